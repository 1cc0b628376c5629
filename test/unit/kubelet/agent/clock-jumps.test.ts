import { expect, it } from 'vitest';
import type { WireNode } from '../../../../src/api/json/types.ts';
import { NodeWorld } from './node-world.ts';

const hourMs = 3_600_000;

/** How often what happened in five minutes, of which the clock is set after one: starts of containers, renewals of the Lease, all requests. */
async function fiveMinutes(jumpMs: number) {
  await using world = await NodeWorld.make();
  const options = { ...world.agentOptions(), evictionHard: {}, imageGCHighThresholdPercent: 100 };
  const agent = world.agent(options);
  await world.through(agent.start());
  world.create('steady');
  await world.pass(60_000);
  (options.clock as unknown as { jump(ms: number): void }).jump(jumpMs);
  await world.pass(240_000);
  const node = world.objects.target('/api/v1/nodes').store.get({ name: 'node-1' }) as WireNode;
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  const [steady] = world.pod('steady')?.status?.containerStatuses ?? [];
  const starts = world.runtime.calls.filter(({ call }) => call === 'StartContainer').length;
  const renewals = world.requests.filter((each) => /^(?:PUT|PATCH) .*\/leases\/node-1/.test(each)).length;
  const notes = agent.snapshot().notes;
  await world.through(agent.stop());
  return { ready, steady: [steady?.ready, steady?.restartCount], starts, renewals, requests: world.requests.length, notes };
}

it('a clock that is set by hours, forward or back, costs no pod anything, and makes no wait shorter or longer', async () => {
  const still = await fiveMinutes(0);
  expect(still).toMatchObject({ ready: 'True', steady: [true, 0], starts: 1, notes: [] });
  expect(still.renewals).toBeGreaterThan(20);
  for (const jumpMs of [5 * hourMs, -5 * hourMs]) {
    const { requests, ...moved } = await fiveMinutes(jumpMs);
    const { requests: usual, ...expected } = still;
    expect(moved).toEqual(expected);
    expect(Math.abs(requests - usual)).toBeLessThan(10);
  }
});
