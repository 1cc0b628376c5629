import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { WireLease } from '../../../../src/api/json/types.ts';
import type { NodeObject } from '../../../../src/node/node-object/node-object.ts';
import type { NodeObjectOptions } from '../../../../src/node/node-object/node-object-options.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { minute, NodeWorld, namespace, nodeName, refusal, unreachable } from './node-world.ts';

const mark = 'pod-status-manager/renewed-by';
const rivalOf = (node: NodeObject) => node.explain().rival;

/** Until this one has renewed the Lease last. */
async function untilHeldBy(world: NodeWorld, holder: string): Promise<void> {
  for (let i = 0; i < 4000 && world.lease()?.spec?.holderIdentity === holder; i++) await world.clock.advance(20);
  for (let i = 0; i < 4000 && world.lease()?.spec?.holderIdentity !== holder; i++) await world.clock.advance(20);
  expect(world.lease()?.spec?.holderIdentity).toBe(holder);
}

/** An agent b lives; its Node is deleted, and the agent a is the first to create it again. */
async function nodeOfOtherIsOurs(options: Partial<NodeObjectOptions> = {}): Promise<{ world: NodeWorld; a: NodeObject }> {
  const world = new NodeWorld({ holderIdentity: 'b' });
  await world.start();
  await world.clock.advance(2000);
  world.next('POST nodes', () => {
    throw unreachable();
  });
  world.nodes.delete({ name: nodeName });
  await settle(20);
  const a = world.another({ holderIdentity: 'a', removeOnStop: true, ...options });
  a.start();
  await settle(20);
  return { world, a };
}

describe('removal', () => {
  it('its own last word does not hide the rival', async () => {
    const { world, a } = await nodeOfOtherIsOurs();
    await world.clock.advance(30_000);
    expect([rivalOf(world.node)?.isCertain, rivalOf(a)?.isCertain]).toEqual([true, true]);
    await untilHeldBy(world, 'a');
    const uid = world.stored()?.metadata?.uid;
    const stopped = await a.stop();
    expect([stopped.node, world.stored()?.metadata?.uid]).toEqual(['notOurs', uid]);
  });

  it('of three agents, the end of one does not hide the other', async () => {
    const world = new NodeWorld({ removeOnStop: true, holderIdentity: 'a' });
    await world.start();
    await world.clock.advance(1500);
    const b = world.another({ holderIdentity: 'b', removeOnStop: false });
    b.start();
    await world.clock.advance(3000);
    const c = world.another({ holderIdentity: 'c', removeOnStop: false });
    c.start();
    await world.clock.advance(30_000);
    await untilHeldBy(world, 'c');
    await c.stop();
    expect(rivalOf(world.node)?.isCertain).toBe(true);
    expect(await world.node.stop()).toEqual({ node: 'notOurs', lease: 'notOurs' });
  });

  it('of three agents, explain keeps the one that lives', async () => {
    const world = new NodeWorld({ holderIdentity: 'a' });
    await world.start();
    await world.clock.advance(1500);
    const b = world.another({ holderIdentity: 'b' });
    b.start();
    await world.clock.advance(3000);
    const c = world.another({ holderIdentity: 'c' });
    c.start();
    await world.clock.advance(30_000);
    await untilHeldBy(world, 'c');
    await c.stop();
    world.logs.length = 0;
    await world.clock.advance(12_000);
    expect(world.logs.filter((line) => line.includes('no other agent renews'))).toEqual([]);
  });

  it('a suspected agent counts as alive', async () => {
    const { world, a } = await nodeOfOtherIsOurs();
    expect(rivalOf(a)?.isCertain).toBe(false);
    const uid = world.stored()?.metadata?.uid;
    const stopped = await a.stop();
    expect([stopped.node, world.stored()?.metadata?.uid]).toEqual(['notOurs', uid]);
  });

  it('a rival with a longer Lease lives on between its renewals', async () => {
    const world = new NodeWorld({ removeOnStop: true });
    await world.start();
    await world.clock.advance(1500);
    const b = world.another({ leaseDurationSeconds: 400, removeOnStop: false });
    b.start();
    await world.clock.advance(75_000);
    expect(await world.node.stop()).toEqual({ node: 'notOurs', lease: 'notOurs' });
    await b.stop();
  });
  it('has its half of a short stop', async () => {
    const world = new NodeWorld({ removeOnStop: true });
    world.leases.create({
      metadata: { name: nodeName, namespace },
      spec: { holderIdentity: nodeName, leaseDurationSeconds: 40, renewTime: '2025-12-31T00:00:00.000000Z' },
    });
    await world.start();
    world.next('PUT leases', () => new Promise(() => {}));
    await world.clock.advance(10_300);
    // a server 20 ms away
    world.next('GET leases', async (act) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      world.clock.setTimer(resolve, 20);
      await promise;
      return act();
    });
    const stopped = world.node.stop({ timeoutMs: 1000 });
    for (let i = 0; i < 110; i++) await world.clock.advance(10);
    expect(await stopped).toEqual({ node: 'removed', lease: 'notOurs' });
  });
});

describe('the last word', () => {
  it('is not written over the renewal of another', async () => {
    const world = new NodeWorld({ holderIdentity: 'a' });
    await world.start();
    const renewTime = '2026-01-01T00:00:03.000000Z';
    const lease = world.lease() as WireLease;
    const other = JSON.stringify({ agent: 'process 7 on host-b', id: 'other', renewTime });
    world.leases.update({
      ...lease,
      metadata: { ...lease.metadata, annotations: { [mark]: other } },
      spec: { holderIdentity: 'b', leaseDurationSeconds: 40, renewTime },
    });
    const held = Promise.withResolvers<never>();
    world.next(
      'PUT leases',
      (act) => act(),
      () => held.promise,
    );
    await world.clock.advance(10_300);
    const stopped = world.node.stop();
    await settle(20);
    held.reject(refusal(500, 'InternalError'));
    await settle(20);
    await stopped;
    expect(world.lease()?.spec?.renewTime).toBe(renewTime);
    expect(world.lease()?.metadata?.annotations?.[mark]).toBe(other);
  });

  it('with removeOnStop is written where the Lease stays', async () => {
    const world = new NodeWorld({ removeOnStop: true, holderIdentity: 'a' });
    await world.start();
    await world.clock.advance(3500);
    const b = world.another({ holderIdentity: 'b', random: () => 0.9 });
    b.start();
    await world.clock.advance(15_000);
    await untilHeldBy(world, 'b');
    await untilHeldBy(world, 'a');
    expect(await world.node.stop()).toEqual({ node: 'notOurs', lease: 'notOurs' });
    await world.clock.advance(11_000);
    expect(rivalOf(b)).toBeUndefined();
  });

  it('is heard also where the other has renewed last', async () => {
    const world = new NodeWorld({ holderIdentity: 'a' });
    await world.start();
    await world.clock.advance(3500);
    const b = world.another({ holderIdentity: 'b', random: () => 0.9 });
    b.start();
    await world.clock.advance(15_000);
    await untilHeldBy(world, 'b');
    await world.node.stop();
    await world.clock.advance(21_000);
    expect(rivalOf(b)).toBeUndefined();
  });
});

describe('an agent that stops while it creates its Lease', () => {
  it('waits for the answer, and says that it has ended', async () => {
    const world = new NodeWorld();
    const held = Promise.withResolvers<void>();
    world.next('POST leases', async (act) => {
      const answer = act();
      await held.promise;
      return answer;
    });
    await world.start();
    const stopped = world.node.stop();
    await settle(20);
    held.resolve();
    await stopped;
    const next = world.another();
    next.start();
    await settle(20);
    expect(rivalOf(next)).toBeUndefined();
    await next.stop();
  });
});

describe('agents that stop at the same time', () => {
  it('have all said so, and the next one suspects nobody', async () => {
    const world = new NodeWorld();
    await world.start();
    await world.clock.advance(1500);
    const second = world.another();
    second.start();
    await world.clock.advance(3000);
    await Promise.all([world.node.stop(), second.stop()]);
    const third = world.another();
    third.start();
    await settle(20);
    expect(rivalOf(third)).toBeUndefined();
    await third.stop();
  });

  it('leave the ids of the last four of them in the Lease', async () => {
    const world = new NodeWorld();
    for (let turn = 0; turn < 6; turn++) {
      const node = world.another();
      node.start();
      await settle(20);
      await node.stop();
    }
    expect(world.lease()?.metadata?.annotations?.['pod-status-manager/ended']?.split(',')).toHaveLength(4);
  });
});

/** The Lease as an agent left it that was killed. */
function leaseOfBefore(renewTime: string): WireLease {
  const annotations = { [mark]: JSON.stringify({ agent: 'process 7 on host-b', id: 'before', renewTime }) };
  return {
    metadata: { name: nodeName, namespace, annotations },
    spec: { holderIdentity: nodeName, leaseDurationSeconds: 40, renewTime },
  };
}

/** Puts this Lease in the place of the one that is there. */
function overwrite(world: NodeWorld, next: WireLease): void {
  const metadata = { ...next.metadata, resourceVersion: world.lease()?.metadata?.resourceVersion };
  world.leases.update({ ...next, metadata } as WireLease);
}

describe('false alarms', () => {
  it('etcd restored to before our start is no rival', async () => {
    const world = new NodeWorld();
    world.leases.create(leaseOfBefore('2025-12-31T23:50:00.000000Z'));
    await world.start();
    await world.clock.advance(minute);
    // the restore: what an agent long gone has written ten minutes before
    overwrite(world, leaseOfBefore('2025-12-31T23:40:00.000000Z'));
    await world.clock.advance(11_000);
    expect(world.logs.filter((line) => line.startsWith('error'))).toEqual([]);
    expect(rivalOf(world.node)).toBeUndefined();
  });

  it('the renewal that was under way when the agent before was killed is no rival that is certain', async () => {
    const world = new NodeWorld();
    world.leases.create(leaseOfBefore('2025-12-31T23:59:49.000000Z'));
    world.next('PUT leases', (act) => {
      overwrite(world, leaseOfBefore('2025-12-31T23:59:59.000000Z'));
      return act();
    });
    await world.start();
    expect(rivalOf(world.node)?.isCertain).not.toBe(true);
  });

  it('a process with our pid and host name is not this process', async () => {
    const world = new NodeWorld();
    const renewTime = '2025-12-31T23:59:58.000000Z';
    // PID 1 of a container that was killed, and of the one that the kubelet started in its place
    const agent = `process ${process.pid} on ${hostname()}`;
    world.leases.create({
      metadata: { name: nodeName, namespace, annotations: { [mark]: JSON.stringify({ agent, id: 'before', renewTime }) } },
      spec: { holderIdentity: nodeName, leaseDurationSeconds: 40, renewTime },
    });
    await world.start();
    expect(rivalOf(world.node)?.agent).toBe(agent);
  });
});

describe('things without end', () => {
  it('a suspicion ends also where the Lease cannot be renewed', async () => {
    const world = new NodeWorld();
    world.leases.create({
      metadata: { name: nodeName, namespace },
      spec: { holderIdentity: nodeName, leaseDurationSeconds: 40, renewTime: '2025-12-31T23:59:58.000000Z' },
    });
    world.next(
      'PUT leases',
      ...Array.from({ length: 10_000 }, () => () => {
        throw refusal(403, 'Forbidden');
      }),
    );
    await world.start();
    await world.clock.advance(60 * minute);
    expect(rivalOf(world.node)).toBeUndefined();
  });

  it('a controller that writes heartbeats costs no renewals for ever', async () => {
    const world = new NodeWorld();
    await world.start();
    const beat = async (): Promise<void> => {
      await world.clock.advance(10_000);
      const node = world.stored();
      const conditions = node?.status?.conditions?.map((condition) => ({
        ...condition,
        lastHeartbeatTime: `${new Date(world.clock.now()).toISOString().slice(0, 19)}Z`,
      }));
      world.nodes.patch(
        { name: nodeName },
        { type: 'application/merge-patch+json', body: { status: { conditions } }, subresource: 'status' },
      );
      await settle(20);
    };
    for (let i = 0; i < 60; i++) await beat();
    world.takeCalls();
    for (let i = 0; i < 60; i++) await beat();
    const writes = world.takeCalls().filter((call) => call === 'PUT leases').length;
    // ten minutes
    expect(writes).toBeLessThanOrEqual(70);
  });

  it('a holder is named with a bounded text', async () => {
    const world = new NodeWorld();
    world.leases.create({
      metadata: { name: nodeName, namespace },
      spec: { holderIdentity: 'x'.repeat(1_000_000), leaseDurationSeconds: 40, renewTime: '2025-12-31T23:59:58.000000Z' },
    });
    await world.start();
    expect(rivalOf(world.node)?.holderIdentity.length).toBeLessThan(2000);
  });
});
