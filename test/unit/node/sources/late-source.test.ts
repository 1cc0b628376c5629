import { describe, expect, it } from 'vitest';
import { LateSource } from '../../../../src/node/sources/api-server-source.ts';
import { NodeWorld } from '../../kubelet/agent/node-world.ts';

/** A source that notes what is asked of it. */
function setUp() {
  const calls: string[] = [];
  const ready = Promise.withResolvers<void>();
  const source = {
    start: () => void calls.push('start'),
    stop: async () => void calls.push('stop'),
    lastObservedAt: () => 7,
    lastFailure: () => undefined,
  };
  return { calls, ready, late: new LateSource(source, () => ready.promise) };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a late source', () => {
  it('begins once all is ready, and tells what the source tells', async () => {
    const { calls, ready, late } = setUp();
    late.start(() => {});
    await settled();
    expect(calls).toEqual([]);
    ready.resolve();
    await settled();
    expect([calls, late.lastObservedAt(), late.lastFailure()]).toEqual([['start'], 7, undefined]);
    await late.stop();
    expect(calls).toEqual(['start', 'stop']);
  });

  it.each(['never comes', 'fails', 'comes later'])('that is stopped before never begins: what it waits for %s', async (how) => {
    const { calls, ready, late } = setUp();
    late.start(() => {});
    if (how === 'fails') ready.reject(new Error('stopped'));
    await late.stop();
    if (how === 'comes later') ready.resolve();
    await settled();
    expect(calls).toEqual(['stop']);
  });
});

describe('an agent that starts again', () => {
  it('lets a pod run on that is here for a label of the node', async () => {
    await using world = await NodeWorld.make();
    const before = world.agent();
    await world.through(before.start());
    const patch = {
      type: 'application/merge-patch+json' as const,
      body: { metadata: { labels: { disk: 'ssd' } } },
      subresource: undefined,
    };
    world.objects.target('/api/v1/nodes').store.patch({ namespace: undefined, name: 'node-1' }, patch);
    await world.pass(15_000);
    world.create('web', { nodeSelector: { disk: 'ssd' } });
    await world.pass(5000);
    await world.through(before.stop());
    world.unreachable = /^\/api\/v1\/nodes/;
    const agent = world.agent();
    const start = agent.start();
    await world.pass(5000);
    expect(agent.podManager.getPods()).toEqual([]);
    world.unreachable = undefined;
    await world.through(start);
    await world.pass(5000);
    expect(agent.podManager.getPods()).toHaveLength(1);
    expect(world.pod('web')?.status?.phase).toBe('Running');
    expect((await world.runtime.listContainers()).map(({ state }) => state)).toEqual(['running']);
    await world.through(agent.stop());
  });
});
