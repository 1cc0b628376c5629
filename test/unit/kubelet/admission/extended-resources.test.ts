import { expect, it } from 'vitest';
import type { WireNode } from '../../../../src/api/json/types.ts';
import { NodeWorld } from '../agent/node-world.ts';

const asksFor = (resource: string, count: string) => {
  const requests = { [resource]: count };
  return {
    containers: [{ name: 'app', image: 'app:1', imagePullPolicy: 'IfNotPresent', resources: { requests, limits: requests } }],
  };
};

/** As a device plugin's operator, or an administrator, does it: a patch of the node's status. */
function patchNode({ objects }: NodeWorld, status: WireNode['status'] | object): void {
  const patch = { type: 'application/merge-patch+json' as const, body: { status }, subresource: 'status' as const };
  objects.target('/api/v1/nodes').store.patch({ namespace: undefined, name: 'node-1' }, patch);
}

const outcome = (world: NodeWorld, name: string) => {
  const { phase, reason, message } = world.pod(name)?.status ?? {};
  return { phase, reason, message };
};

it('what others say the node has counts, and what nobody says it has is left out', async () => {
  await using world = await NodeWorld.make();
  const agent = world.agent();
  await world.through(agent.start());
  patchNode(world, { capacity: { 'example.com/x': '1' } });
  await world.pass(15_000);
  world.create('first', asksFor('example.com/x', '1'));
  await world.pass(5000);
  world.create('second', asksFor('example.com/x', '1'));
  world.create('elsewhere', asksFor('example.com/y', '1'));
  await world.pass(5000);
  expect(outcome(world, 'first').phase).toBe('Running');
  expect(outcome(world, 'second')).toEqual({
    phase: 'Failed',
    reason: 'OutOfexample.com/x',
    message: expect.stringContaining("Node didn't have enough resource: example.com/x, requested: 1, used: 1, capacity: 1"),
  });
  expect(outcome(world, 'elsewhere').phase).toBe('Running');
  await world.through(agent.stop());
});

it('what others say of the resources of the agent itself does not count', async () => {
  await using world = await NodeWorld.make();
  const agent = world.agent();
  await world.through(agent.start());
  await world.pass(1000);
  patchNode(world, { allocatable: { pods: '0' } });
  await world.pass(500);
  world.create('web');
  await world.pass(3000);
  expect(outcome(world, 'web').phase).toBe('Running');
  await world.through(agent.stop());
});

it('counts for a new agent, too, from its first pod on', async () => {
  await using world = await NodeWorld.make();
  const before = world.agent();
  await world.through(before.start());
  patchNode(world, { capacity: { 'example.com/x': '1' } });
  await world.pass(15_000);
  await world.through(before.stop());
  world.create('large', asksFor('example.com/x', '2'));
  const agent = world.agent();
  await world.through(agent.start());
  // the end of a pod is told once the agent knows that nothing of it runs
  await world.pass(15_000);
  expect(outcome(world, 'large')).toMatchObject({ phase: 'Failed', reason: 'OutOfexample.com/x' });
  await world.through(agent.stop());
});
