import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../src/api/json/types.ts';
import { until } from '../../../support/until.ts';
import { node, pod } from '../scheduler-world.ts';
import { all, extenderWorld } from './extender-world.ts';

/** A pod of which an extender has been asked and has not answered. */
async function waiting(cpu = '3', answer = all, before?: WirePod) {
  const gate = Promise.withResolvers<void>();
  const filter = async (asked: Parameters<typeof all>[0]) => {
    if (asked.pod !== 'web') return all(asked);
    await gate.promise;
    return answer(asked);
  };
  const world = await extenderWorld({ filter }, { httpTimeout: '5s' });
  const { scheduler, server } = world;
  scheduler.setNode(node('n1'));
  scheduler.start();
  if (before !== undefined) scheduler.setPod(before);
  await scheduler.flush();
  scheduler.setPod(pod('web', cpu));
  await until(() => server.asked.length === 1);
  const answered = async (): Promise<void> => {
    gate.resolve();
    await scheduler.flush();
  };
  const bound = (): string[] => world.told.filter((line) => line.startsWith('bind'));
  const dispose = async (): Promise<void> => {
    gate.resolve();
    await world[Symbol.asyncDispose]();
  };
  return { ...world, answered, bound, [Symbol.asyncDispose]: dispose };
}

const onNode = (name: string, cpu: string): WirePod => pod(name, cpu, { nodeName: 'n1' } as never);

describe('while an extender is asked of a pod', () => {
  it('no other pod is tried', async () => {
    await using world = await waiting();
    world.scheduler.setPod(pod('next', '1', { priority: 100 }));
    expect(world.scheduler.scheduleOne()).toBe(false);
    expect([world.server.verbs(), world.bound()]).toEqual([['filter web'], []]);
    await world.answered();
    expect(world.bound()).toEqual(['bind web n1', 'bind next n1']);
  });

  it('others wait, and are tried also where it leaves no node', async () => {
    await using world = await waiting('3', () => ({ NodeNames: [] }));
    world.scheduler.setPod(pod('next', '1'));
    // the loop has seen that it may try no other pod
    await nextTurn();
    await nextTurn();
    await world.answered();
    expect(world.bound()).toEqual(['bind next n1']);
  });

  it('somebody may ask why another one waits: the nodes stay as the attempt sees them', async () => {
    const matchFields = [{ key: 'metadata.name', operator: 'In', values: ['n1'] }];
    const required = { nodeSelectorTerms: [{ matchFields }] };
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
    await using world = await waiting('3', () => ({ NodeNames: [] }), pod('large', '8', { affinity }));
    const { scheduler, told } = world;
    scheduler.setNode(node('n2'));
    expect(scheduler.explain('uid-large').nodes.map(({ nodeName }) => nodeName)).toEqual(['n1', 'n2']);
    await world.answered();
    expect(told.find((line) => line.includes(' web: '))).toContain('0/1 nodes are available');
  });

  it('its node may be filled: it is looked at again, and not filled beyond what it has', async () => {
    await using world = await waiting();
    world.scheduler.setPod(onNode('foreign', '2'));
    await world.answered();
    expect(world.bound()).toEqual([]);
    const message = 'the node n1 was chosen, and while extenders were asked it has changed: Insufficient cpu';
    expect(world.told).toContain(`FailedScheduling web: ${message}`);
    // it is tried again after its back-off
    world.scheduler.deletePod('uid-foreign');
    await world.clock.advance(2000);
    await world.scheduler.flush();
    expect(world.bound()).toEqual(['bind web n1']);
  });

  it.each([
    ['gone', 'it is gone', 'deleteNode'],
    ['cordoned', 'node(s) were unschedulable', 'setNode'],
  ] as const)('its node may be %s', async (_what, reason, method) => {
    await using world = await waiting();
    if (method === 'deleteNode') world.scheduler.deleteNode('n1');
    else world.scheduler.setNode({ ...node('n1'), spec: { unschedulable: true } });
    await world.answered();
    expect(world.bound()).toEqual([]);
    expect(world.told.join()).toContain(`it has changed: ${reason}`);
  });

  it.each<[string, (world: Awaited<ReturnType<typeof waiting>>) => void]>([
    ['be deleted', ({ scheduler }) => scheduler.deletePod('uid-web')],
    ['get a node from somebody else', ({ scheduler }) => scheduler.setPod(onNode('web', '3'))],
    ['end', ({ scheduler }) => scheduler.setPod({ ...pod('web', '3'), status: { phase: 'Failed' } })],
  ])('the pod may %s: its attempt ends at once, and others are tried', async (_what, change) => {
    await using world = await waiting();
    change(world);
    world.scheduler.setPod(pod('next', '1'));
    await world.scheduler.flush();
    expect(world.bound()).toEqual(['bind next n1']);
    expect(world.told.filter((line) => line.includes('web'))).toEqual([]);
  });

  it('the pod may be on its way to its end: it is not bound, and not tried again', async () => {
    await using world = await waiting();
    const ending = pod('web', '3');
    world.scheduler.setPod({
      ...ending,
      metadata: { ...ending.metadata, resourceVersion: '2', deletionTimestamp: '2000-01-01T00:00:00Z' },
    });
    await world.answered();
    await world.clock.advance(20_000);
    await world.scheduler.flush();
    expect([world.bound(), world.server.asked.length]).toEqual([[], 1]);
  });

  it('the scheduler may be suspended: nothing is written, and the pod comes back', async () => {
    await using world = await waiting();
    world.scheduler.suspend();
    await world.answered();
    expect(world.told).toEqual([]);
    world.scheduler.resume();
    await world.clock.advance(2000);
    await world.scheduler.flush();
    expect(world.bound()).toEqual(['bind web n1']);
  });

  it('the scheduler may stop, without waiting for it', async () => {
    await using world = await waiting();
    await world.scheduler.stop();
    expect(world.told).toEqual([]);
    expect(world.clock.pendingTimers).toBe(0);
  });
});

describe('an extender that does not answer', () => {
  it('holds up the others no longer than its time; the pod is told who does not', async () => {
    await using world = await waiting();
    world.scheduler.setPod(pod('next', '1'));
    await world.clock.advance(5000);
    await until(() => world.bound().length === 1);
    expect(world.bound()).toEqual(['bind next n1']);
    const url = world.server.url.slice(0, -1);
    const said = `The extender ${url} failed to filter nodes for default/web: POST ${url}/filter: no answer within 5000 ms`;
    expect(world.told).toContain(`FailedScheduling web: ${said}`);
    expect(world.scheduler.explain('uid-web').problem).toMatchObject({ kind: 'extender-failed', message: said });
    expect(world.scheduler.explain('uid-web').problem?.help).toContain(`See whether the extender ${url} runs and answers`);
  });
});
