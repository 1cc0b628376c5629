import { describe, expect, it } from 'vitest';
import type { WireLease } from '../../../../src/api/json/types.ts';
import type { NodeObject } from '../../../../src/node/node-object/node-object.ts';
import type { NodeObjectOptions } from '../../../../src/node/node-object/node-object-options.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { capacity, deaf, minute, NodeWorld, refusal, unreachable } from './node-world.ts';

describe('stop', () => {
  it('gives up what is under way, leaves no timer, and later calls get the same promise', async () => {
    const world = new NodeWorld();
    world.next('POST nodes', deaf);
    await world.start();
    const waiting = world.node.registered();
    const stopped = world.node.stop();
    expect(world.node.stop()).toBe(stopped);
    await expect(waiting).rejects.toMatchObject({ code: 'ERR_STOPPED' });
    await world.clock.advance(1000);
    expect(await stopped).toEqual({ node: 'kept', lease: 'kept' });
    world.takeCalls();
    world.node.changed();
    await world.clock.advance(minute);
    expect([world.takeCalls(), world.clock.pendingTimers, world.openWatches, world.node.state]).toEqual([[], 0, 0, 'stopped']);
    expect(() => world.node.start()).toThrow(expect.objectContaining({ code: 'ERR_STOPPED' }));
  });

  it('waits for the answer to a create, and deletes what it has created', async () => {
    const world = new NodeWorld({ removeOnStop: true });
    const late = Promise.withResolvers<void>();
    world.next('POST nodes', (act) => late.promise.then(act));
    await world.start();
    const stopped = world.node.stop();
    await settle(5);
    late.resolve();
    expect(await stopped).toEqual({ node: 'removed', lease: 'notOurs' });
    expect(world.stored()).toBeUndefined();
    expect(world.clock.pendingTimers).toBe(0);
  });

  it('lives with a server that refuses the deletions', async () => {
    const world = new NodeWorld({ removeOnStop: true });
    await world.start();
    world.next('DELETE nodes', () => {
      throw refusal(403, 'Forbidden');
    });
    world.next('DELETE leases', () => {
      throw unreachable();
    });
    expect(await world.node.stop()).toEqual({ node: 'failed', lease: 'failed' });
    expect(world.logs.filter((line) => line.startsWith('warn'))).toEqual([
      'warn: an object of the node could not be deleted, and stays',
      'warn: an object of the node could not be deleted, and stays',
    ]);
  });

  it('leaves no timer of changes that were told too often', async () => {
    const world = new NodeWorld();
    await world.start();
    for (let i = 0; i < 10; i++) world.node.changed();
    await world.node.stop();
    expect(world.clock.pendingTimers).toBe(0);
  });

  it('may come before start', async () => {
    const world = new NodeWorld({ removeOnStop: true });
    expect(await world.node.stop()).toEqual({ node: 'notStarted', lease: 'notStarted' });
    expect(await new NodeWorld().node.stop()).toEqual({ node: 'notStarted', lease: 'notStarted' });
    expect(world.calls).toEqual([]);
  });
});

/** Ends an agent that cannot say so any more. */
async function killed(world: NodeWorld, node: NodeObject): Promise<void> {
  world.isDown = true;
  await node.stop();
  world.isDown = false;
}

describe('removal at the end', () => {
  const world = async (options: Partial<NodeObjectOptions> = {}): Promise<NodeWorld> => {
    const made = new NodeWorld({ removeOnStop: true, ...options });
    await made.start();
    return made;
  };

  it('leaves the node and the Lease to an agent that has taken them over', async () => {
    const old = await world();
    await old.clock.advance(1000);
    const next = old.another({ removeOnStop: true });
    next.start();
    await settle(20);
    expect(await old.node.stop()).toEqual({ node: 'notOurs', lease: 'notOurs' });
    expect([old.stored(), old.lease()]).not.toContain(undefined);
    expect(old.logs).toContain('warn: another agent has taken over the node, which stays');
    await next.stop();
  });

  it('leaves them also where the last renewal was its own, and the other agent was noticed before', async () => {
    const old = await world();
    await old.clock.advance(1000);
    const next = old.another({ removeOnStop: true });
    next.start();
    // both renew the Lease by turns
    await old.clock.advance(11_000);
    await killed(old, next);
    await old.clock.advance(10_000);
    expect(await old.node.stop()).toEqual({ node: 'notOurs', lease: 'notOurs' });
  });

  it('tells two agents apart that renew in the same millisecond, by their holders', async () => {
    const old = await world({ holderIdentity: 'old' });
    const next = old.another({ removeOnStop: true, holderIdentity: 'next' });
    next.start();
    await settle(20);
    expect(await old.node.stop()).toEqual({ node: 'notOurs', lease: 'notOurs' });
    await next.stop();
  });

  it('removes them when the other agent has said that it ended', async () => {
    const old = await world();
    await old.clock.advance(1000);
    const next = old.another();
    next.start();
    await old.clock.advance(3000);
    await next.stop();
    expect(await old.node.stop()).toEqual({ node: 'removed', lease: 'removed' });
  });

  it('removes them once the other agent has not renewed the Lease for its duration', async () => {
    const old = await world();
    await old.clock.advance(1000);
    const next = old.another({ removeOnStop: true });
    next.start();
    await old.clock.advance(11_000);
    await killed(old, next);
    await old.clock.advance(60_000);
    expect(await old.node.stop()).toEqual({ node: 'removed', lease: 'removed' });
  });

  it('leaves the Lease that somebody has renewed after it was read', async () => {
    const old = await world();
    old.next('DELETE leases', (act) => {
      const lease = old.lease() as WireLease;
      old.leases.update({ ...lease, spec: { ...lease.spec, renewTime: '2026-01-01T00:00:01.000000Z' } });
      return act();
    });
    expect(await old.node.stop()).toMatchObject({ lease: 'notOurs' });
    expect(old.lease()).toBeDefined();
  });

  it('removes nothing while the server does not say whose the Lease is', async () => {
    const old = await world();
    old.next('GET leases', () => {
      throw refusal(403, 'Forbidden');
    });
    expect(await old.node.stop()).toEqual({ node: 'failed', lease: 'failed' });
    expect(old.stored()).toBeDefined();
  });

  it('ends in time with a server that answers nothing, and sends both deletions at once', async () => {
    const old = await world();
    old.next('PATCH nodes/status', deaf);
    old.node.setStatus({ capacity: { ...capacity, cpu: '8' } });
    await settle(20);
    old.next('DELETE leases', deaf);
    old.next('DELETE nodes', deaf);
    old.takeCalls();
    const stopped = old.node.stop({ timeoutMs: 4000 });
    await old.clock.advance(3500);
    expect(old.takeCalls()).toEqual(['GET leases', 'DELETE leases', 'DELETE nodes']);
    await old.clock.advance(500);
    expect(await stopped).toEqual({ node: 'failed', lease: 'failed' });
    expect(old.clock.pendingTimers).toBe(0);
  });

  it('refuses wrong options of its stop without being stopped by them', async () => {
    const old = await world();
    await expect(old.node.stop({ timeoutMs: -1 })).rejects.toThrow('timeoutMs');
    await expect(old.node.stop({ typo: 1 } as never)).rejects.toThrow('typo');
    expect(old.node.state).toBe('running');
    await old.node.stop();
  });
});
