import { describe, expect, it } from 'vitest';
import type { WireLease } from '../../../../src/api/json/types.ts';
import type { EventRecorder } from '../../../../src/client/events/event-recorder.ts';
import type { NodeObject } from '../../../../src/node/node-object/node-object.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { deaf, minute, NodeWorld, namespace, nodeName } from './node-world.ts';

const mark = 'pod-status-manager/renewed-by';
const end = 'pod-status-manager/ended';
const justNow = '2025-12-31T23:59:58.000000Z';

/** The Lease of an agent that renewed it two seconds ago. */
function foundLease(annotation?: string, renewTime: string | null = justNow): WireLease {
  return {
    metadata: { name: nodeName, namespace, ...(annotation !== undefined && { annotations: { [mark]: annotation } }) },
    spec: { holderIdentity: nodeName, leaseDurationSeconds: 40, ...(renewTime !== null && { renewTime }) },
  };
}

const markOf = (contents: object): string => JSON.stringify({ renewTime: justNow, id: 'other', ...contents });

/** An agent that finds this Lease when it starts. */
async function startedAfter(lease: WireLease): Promise<NodeWorld> {
  const world = new NodeWorld();
  world.leases.create(lease);
  await world.start();
  return world;
}

const rivalOf = (node: NodeObject) => node.explain().rival;

describe('two agents under one name', () => {
  it('are found within a second of the start of the second one, which says so at once, and both name the process of the other', async () => {
    const told: string[] = [];
    const eventRecorder: EventRecorder = {
      event: () => {},
      nodeEvent: (node, type, reason, message) => void told.push(`${node} ${type} ${reason}: ${message}`),
    };
    const world = new NodeWorld({ eventRecorder });
    await world.start();
    await world.clock.advance(3500);
    const second = world.another();
    second.start();
    await settle(20);
    expect(rivalOf(second)).toMatchObject({ isCertain: false, agent: expect.stringContaining(`process ${process.pid} on `) });
    expect(world.logs).toContain(
      'warn: another agent may run under the name of this node: it renewed the Lease just now, and did not say that it ended',
    );
    await world.clock.advance(1000);
    expect([rivalOf(world.node), rivalOf(second)]).toMatchObject([{ isCertain: true }, { isCertain: true }]);
    const message = `Another agent, process ${process.pid} on`;
    const events = told.filter((line) => line.startsWith(`${nodeName} Warning TwoAgents: ${message}`));
    expect(events).toHaveLength(2);
    await Promise.all([world.node.stop(), second.stop()]);
  });

  it('are not suspected where something else makes sure that there is one alone, and are told all the same where both live', async () => {
    const world = new NodeWorld({ isSoleAgent: true });
    world.leases.create(foundLease());
    await world.start();
    expect([rivalOf(world.node), world.logs.filter((line) => line.includes('another agent'))]).toEqual([undefined, []]);
    const second = world.another();
    second.start();
    await world.clock.advance(15_000);
    expect([rivalOf(world.node), rivalOf(second)]).toMatchObject([{ isCertain: true }, { isCertain: true }]);
    await Promise.all([world.node.stop(), second.stop()]);
  });

  it('renew as often as before once they know of each other', async () => {
    const world = new NodeWorld();
    await world.start();
    await world.clock.advance(3500);
    const second = world.another();
    second.start();
    await world.clock.advance(5000);
    world.takeCalls();
    await world.clock.advance(minute);
    const writes = world.takeCalls().filter((call) => call === 'PUT leases');
    // each renews six times, and each renewal is refused once, since the other was first
    expect(writes.length).toBeLessThanOrEqual(24);
    await Promise.all([world.node.stop(), second.stop()]);
  });

  it('are one again when the other has ended, and the log says so once', async () => {
    const world = new NodeWorld();
    await world.start();
    await world.clock.advance(3500);
    const second = world.another();
    second.start();
    await world.clock.advance(2000);
    await second.stop();
    expect(rivalOf(world.node)).toMatchObject({ isCertain: true });
    await world.clock.advance(11_000);
    expect(rivalOf(world.node)).toBeUndefined();
    const over = world.logs.filter((line) => line === 'info: no other agent renews the Lease of this node any more');
    expect(over).toHaveLength(1);
    await world.node.stop();
  });

  it('are one again when the other was killed and has missed two renewals', async () => {
    const world = new NodeWorld();
    await world.start();
    const foreign = { holderIdentity: 'other', renewTime: '2026-01-01T00:00:01.000000Z' };
    world.leases.update({ ...(world.lease() as WireLease), spec: foreign });
    await world.clock.advance(15_000);
    expect(rivalOf(world.node)).toMatchObject({ ...foreign, agent: undefined, isCertain: true });
    await world.clock.advance(30_000);
    expect(rivalOf(world.node)).toBeUndefined();
    expect(world.logs.filter((line) => line.endsWith('no other agent renews the Lease of this node any more'))).toHaveLength(1);
    await world.node.stop();
  });

  it('are found by their renewals where the first one may not watch its node', async () => {
    const world = new NodeWorld();
    world.mayWatch = false;
    await world.start();
    await world.clock.advance(3500);
    const second = world.another();
    second.start();
    await world.clock.advance(13_000);
    expect([rivalOf(world.node), rivalOf(second)]).toMatchObject([{ isCertain: true }, { isCertain: true }]);
    await Promise.all([world.node.stop(), second.stop()]);
  });
});

describe('the agent before this one', () => {
  it('is suspected where it was killed, until it would have renewed the Lease again', async () => {
    const world = await startedAfter(foundLease(markOf({ agent: 'process 7 on host-b' })));
    expect(rivalOf(world.node)).toMatchObject({ agent: 'process 7 on host-b', isCertain: false, renewTime: justNow });
    world.takeCalls();
    await world.clock.advance(12_000);
    expect(rivalOf(world.node)).toMatchObject({ isCertain: false });
    await world.clock.advance(1000);
    expect(rivalOf(world.node)).toBeUndefined();
    expect(world.logs.at(-1)).toBe('info: no other agent renews the Lease of this node any more');
    expect(world.takeCalls()).toEqual(Array.from({ length: 4 }, () => 'PUT leases'));
    await world.node.stop();
  });

  it.each([
    ['has stopped', markOf({ agent: 'process 7 on host-b' }), justNow, 'other'],
    ['renewed the Lease long ago', markOf({ agent: 'process 7 on host-b' }), '2025-12-31T23:59:40.000000Z'],
    ['never renewed it', undefined, null],
  ])('is not suspected where it %s', async (_case, annotation, renewTime, ended?: string) => {
    const lease = foundLease(annotation, renewTime);
    const annotations = { ...lease.metadata?.annotations, ...(ended !== undefined && { [end]: ended }) };
    const world = await startedAfter({ ...lease, metadata: { ...lease.metadata, annotations } });
    expect(rivalOf(world.node)).toBeUndefined();
    await world.node.stop();
  });

  it.each([
    ['no JSON', 'process 7'],
    ['null', 'null'],
    ['a list', '[]'],
    ['an agent that is no text', markOf({ agent: { a: 1 } })],
    ['no id', JSON.stringify({ agent: 'x', renewTime: justNow })],
    ['too long', markOf({ agent: 'x'.repeat(100_000) })],
    ['of another renewal, as a kubelet leaves it', markOf({ agent: 'x', renewTime: '2025-12-31T23:59:50.000000Z' })],
  ])('is suspected without the name of its process where its mark is %s', async (_case, annotation) => {
    const world = await startedAfter(foundLease(annotation));
    expect(rivalOf(world.node)).toMatchObject({ isCertain: false, agent: undefined, holderIdentity: nodeName });
    await world.node.stop();
  });

  it('is named with at most 200 characters', async () => {
    const world = await startedAfter(foundLease(markOf({ agent: 'x'.repeat(900) })));
    expect(rivalOf(world.node)?.agent).toBe('x'.repeat(200));
    await world.node.stop();
  });

  it('that was stopped has said so in the Lease, and the next one suspects nobody', async () => {
    const world = new NodeWorld();
    await world.start();
    const renewedAt = world.lease()?.spec?.renewTime;
    await world.node.stop();
    expect(world.lease()?.spec?.renewTime).toBe(renewedAt);
    const next = world.another();
    next.start();
    await settle(20);
    expect([rivalOf(next), next.explain().lastRenewAt]).toEqual([undefined, world.clock.now()]);
    await next.stop();
  });
});

describe('the last write of the Lease', () => {
  it('ends with the stop when the server does not answer', async () => {
    const world = new NodeWorld();
    await world.start();
    world.next('PUT leases', deaf);
    const stopped = world.node.stop();
    await world.clock.advance(2000);
    expect(await stopped).toEqual({ node: 'kept', lease: 'kept' });
  });

  it('is not lost where the renewal under way has its effect all the same', async () => {
    const world = new NodeWorld();
    await world.start();
    const held = Promise.withResolvers<void>();
    world.next('PUT leases', async (act) => {
      await held.promise;
      return act();
    });
    await world.clock.advance(10_300);
    const before = world.lease()?.spec?.renewTime;
    const stopped = world.node.stop();
    held.resolve();
    await stopped;
    const { annotations = {} } = world.lease()?.metadata ?? {};
    expect(world.lease()?.spec?.renewTime).not.toBe(before);
    expect(JSON.parse(annotations[mark] ?? '')).toHaveProperty('id', annotations[end]?.split(',').at(-1));
  });

  it('is not tried after a renewal that failed', async () => {
    const world = new NodeWorld();
    await world.start();
    world.isDown = true;
    await world.clock.advance(10_300);
    world.takeCalls();
    await world.node.stop();
    expect(world.takeCalls()).toEqual([]);
  });

  it('does not undo the renewal of another agent', async () => {
    const world = new NodeWorld();
    await world.start();
    const renewed = {
      ...(world.lease() as WireLease),
      spec: { holderIdentity: 'other', renewTime: '2026-01-01T00:00:01.000000Z' },
    };
    world.leases.update(renewed);
    await world.node.stop();
    expect(world.lease()?.spec).toEqual(renewed.spec);
    expect(world.lease()?.metadata?.annotations).toHaveProperty([end]);
  });
});
