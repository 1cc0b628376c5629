import { describe, expect, it } from 'vitest';
import type { NodeObjectOptions } from '../../../../src/node/node-object/node-object-options.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { NodeWorld, nodeName, refusal } from './node-world.ts';

/** A node that one agent has kept, and has just left: what is asked for from now on is the next one's. */
async function leftNode(options: Partial<NodeObjectOptions> = {}): Promise<NodeWorld> {
  const world = new NodeWorld({ isSoleAgent: true, ...options });
  await world.start();
  await world.node.stop();
  await world.clock.advance(1000);
  world.takeCalls();
  return world;
}

const owners = (world: NodeWorld): unknown => world.lease()?.metadata?.ownerReferences?.map(({ uid }) => uid);

describe('an agent that is sure to be the only one of its node', () => {
  it('renews its Lease three times in its duration', async () => {
    const world = new NodeWorld({ isSoleAgent: true, leaseDurationSeconds: 60 });
    await world.start();
    world.takeCalls();
    // 20 s and 2 % of jitter
    await world.clock.advance(20_399);
    expect(world.takeCalls()).toEqual([]);
    await world.clock.advance(1);
    expect(world.takeCalls()).toEqual(['PUT leases']);
    await world.clock.advance(10 * 20_400);
    expect(world.takeCalls().filter((call) => call === 'PUT leases')).toHaveLength(10);
    await world.node.stop();
  });

  it('takes over a node that is there without a creation that would be refused, and renews its Lease once', async () => {
    const world = await leftNode();
    const next = world.another();
    next.start();
    await settle(20);
    expect(world.takeCalls().toSorted()).toEqual(['GET leases', 'PATCH nodes/status', 'PUT leases']);
    expect([next.explain().registered, owners(world)]).toEqual([true, [world.stored()?.metadata?.uid]]);
    await next.stop();
  });

  it('renews the Lease that is there before the node could be read', async () => {
    const world = await leftNode();
    world.mayWatch = false;
    const before = world.lease()?.spec?.renewTime;
    const next = world.another();
    next.start();
    await settle(20);
    expect(world.takeCalls()).toEqual(['GET leases', 'PUT leases']);
    expect([next.explain().registered, world.lease()?.spec?.renewTime === before]).toEqual([false, false]);
    await next.stop();
  });

  it('tries a creation three seconds later where the node cannot be watched, and finds the node by that', async () => {
    const world = await leftNode();
    world.mayWatch = false;
    const next = world.another();
    next.start();
    await world.clock.advance(2999);
    expect(world.calls).not.toContain('POST nodes');
    await world.clock.advance(1);
    expect(world.takeCalls()).toEqual(['GET leases', 'PUT leases', 'POST nodes', 'GET nodes', 'PATCH nodes/status']);
    await next.stop();
  });

  it('creates a node that is not there, and then its Lease, of which it asked once whether it is there', async () => {
    const world = new NodeWorld({ isSoleAgent: true });
    await world.start();
    const calls = world.takeCalls();
    expect(calls.toSorted()).toEqual(['GET leases', 'POST leases', 'POST nodes']);
    expect(calls.indexOf('POST leases')).toBeGreaterThan(calls.indexOf('POST nodes'));
    expect(owners(world)).toEqual([world.stored()?.metadata?.uid]);
    await world.node.stop();
  });

  it('asks no second time for a Lease that was not there, where the creation of the node takes longer', async () => {
    const world = new NodeWorld({ isSoleAgent: true });
    world.next('POST nodes', async (act) => {
      await settle(10);
      return act();
    });
    world.node.start();
    await settle(40);
    expect(world.takeCalls()).toEqual(['GET leases', 'POST nodes', 'POST leases']);
    await world.node.stop();
  });

  it('makes no Lease for a node that it cannot create', async () => {
    const world = new NodeWorld({ isSoleAgent: true });
    world.next('POST nodes', () => {
      throw refusal(403, 'Forbidden');
    });
    await world.start();
    expect([world.lease(), world.node.explain().registered]).toEqual([undefined, false]);
    await world.node.stop();
  });

  it('names the node as the owner of a Lease that names an older one', async () => {
    const world = await leftNode();
    world.nodes.delete({ name: nodeName });
    const next = world.another();
    next.start();
    await settle(20);
    expect(owners(world)).toEqual([world.stored()?.metadata?.uid]);
    await next.stop();
  });

  it('reads a Lease that somebody else has created meanwhile', async () => {
    const world = new NodeWorld({ isSoleAgent: true });
    world.next('POST leases', () => {
      throw refusal(409, 'AlreadyExists');
    });
    await world.start();
    expect(world.takeCalls().filter((call) => call.endsWith('leases'))).toEqual([
      'GET leases',
      'POST leases',
      'GET leases',
      'POST leases',
    ]);
    await world.node.stop();
  });
});

describe('an agent that may not be alone', () => {
  it('creates its node first, and leaves its Lease alone until the node is registered', async () => {
    const world = await leftNode({ isSoleAgent: false });
    const next = world.another();
    next.start();
    await settle(20);
    const calls = world.takeCalls();
    expect(calls[0]).toBe('POST nodes');
    expect(calls.indexOf('GET leases')).toBeGreaterThan(calls.indexOf('GET nodes'));
    await next.stop();
  });
});
