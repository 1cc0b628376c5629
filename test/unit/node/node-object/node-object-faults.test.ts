import { describe, expect, it } from 'vitest';
import { failureInWords } from '../../../../src/client/resources/api-problem.ts';
import type { NodeObjectOptions } from '../../../../src/node/node-object/node-object-options.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { deaf, minute, NodeWorld, namespace, nodeName, refusal, unreachable } from './node-world.ts';

describe('an apiserver that is away', () => {
  it('at the start costs few requests, and the node is registered soon after it is back', async () => {
    const world = new NodeWorld();
    world.isDown = true;
    await world.start();
    await world.clock.advance(5 * minute);
    expect(world.node.explain()).toMatchObject({ registered: false, nodeFailure: { errorClass: 'unavailable' } });
    // one every 7 s at the most in the long run, of half that on the average
    expect(world.takeCalls().length).toBeLessThan(120);
    world.isDown = false;
    await world.clock.advance(7000);
    expect(world.condition('Ready')).toMatchObject({ status: 'True' });
    expect(world.lease()).toBeDefined();
    expect(world.node.explain()).toMatchObject({ registered: true, nodeFailure: undefined, leaseFailure: undefined });
    await world.node.stop();
  });

  it('for minutes is met by a renewal within seconds, and by a repair of what a controller made of the conditions', async () => {
    const world = new NodeWorld();
    await world.start();
    await world.clock.advance(minute);
    world.isDown = true;
    world.dropWatches();
    await world.clock.advance(5 * minute);
    expect(world.node.explain().leaseFailure?.attempt).toBeGreaterThan(10);
    const conditions = [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' }];
    const body = { status: { conditions } };
    world.nodes.patch({ name: nodeName }, { type: 'application/strategic-merge-patch+json', body, subresource: 'status' });
    world.isDown = false;
    await world.clock.advance(7000);
    const renewTime = Date.parse(world.lease()?.spec?.renewTime ?? '');
    expect(world.clock.now() - renewTime).toBeLessThanOrEqual(7000);
    await world.clock.advance(60_000);
    expect(world.condition('Ready')).toMatchObject({ status: 'True' });
    world.isDown = true;
    while (world.node.explain().leaseFailure === undefined) await world.clock.advance(50);
    // the backoff has begun anew
    expect(world.node.explain().leaseFailure).toMatchObject({ attempt: 1, retryInMs: 100 });
    await world.node.stop();
  });

  it.each([
    ['0', 0],
    ['1', 1],
  ])('makes no busy loop when every random number is %s', async (_, random) => {
    const world = new NodeWorld({ random: () => random });
    world.isDown = true;
    await world.start();
    await world.clock.advance(10_000);
    expect(world.takeCalls().length).toBeLessThanOrEqual(110);
    await world.node.stop();
  });

  it('that asks to wait is not asked before', async () => {
    const world = new NodeWorld();
    const throttled = Object.assign(refusal(429, 'TooManyRequests'), { retryAfterMs: 30_000 });
    world.next('POST nodes', () => Promise.reject(throttled));
    await world.start();
    await world.clock.advance(29_000);
    expect(world.takeCalls().filter((call) => call === 'POST nodes')).toHaveLength(1);
    await world.clock.advance(8000);
    expect(world.stored()).toBeDefined();
    await world.node.stop();
  });
});

describe('a node that is deleted', () => {
  it('is created again at once, and owns the Lease', async () => {
    const world = new NodeWorld({ taints: [{ key: 'mine', effect: 'NoSchedule' }] });
    await world.start();
    const first = world.stored()?.metadata?.uid;
    world.nodes.remove({ name: nodeName });
    await settle(20);
    const second = world.stored();
    expect(second?.metadata?.uid).not.toBe(first);
    expect(second?.spec?.taints).toContainEqual({ key: 'mine', effect: 'NoSchedule' });
    expect(world.lease()?.metadata?.ownerReferences).toEqual([
      { apiVersion: 'v1', kind: 'Node', name: nodeName, uid: second?.metadata?.uid },
    ]);
    expect(world.logs).toContain('warn: the node was deleted; it is created again');
    await world.node.stop();
  });

  it('is waited for with registerNode: false, and the problem says who is to create it', async () => {
    const world = new NodeWorld({ registerNode: false });
    world.nodes.create({ metadata: { name: nodeName } });
    await world.start();
    expect(world.node.explain().registered).toBe(true);
    world.nodes.remove({ name: nodeName });
    await world.clock.advance(1000);
    expect(world.stored()).toBeUndefined();
    const news = 'warn: the node was deleted; it is waited for, since registerNode is false';
    expect(world.logs.filter((line) => line.includes('the node was deleted'))).toEqual([news]);
    const failure = world.node.explain().nodeFailure;
    expect(failureInWords(failure?.error)).toEqual({
      kind: 'no-node',
      help: 'Create the Node object of this name, or let the agent do it with registerNode: true.',
    });
    world.nodes.create({ metadata: { name: nodeName } });
    await world.clock.advance(10_000);
    expect(world.node.explain()).toMatchObject({ registered: true, nodeFailure: undefined });
    await world.node.stop();
  });

  it('while the watch is broken, or not allowed, is created again when it is written next', async () => {
    const world = new NodeWorld();
    world.mayWatch = false;
    let ready = true;
    const node = world.another({ readiness: () => ({ ready }) });
    node.start();
    await settle(20);
    world.nodes.remove({ name: nodeName });
    await world.clock.advance(minute);
    expect(world.stored()).toBeUndefined();
    ready = false;
    node.changed();
    await settle(20);
    expect(world.condition('Ready')).toMatchObject({ status: 'False' });
    await node.stop();
  });

  it('and created by another is not written with what was meant for the old one', async () => {
    const world = new NodeWorld();
    await world.start();
    world.mayWatch = false;
    world.dropWatches();
    world.nodes.remove({ name: nodeName });
    const other = world.nodes.create({ metadata: { name: nodeName, labels: { of: 'another' } } });
    await world.clock.advance(6 * minute);
    expect(world.stored()?.metadata).toMatchObject({ uid: other.metadata?.uid, labels: { of: 'another' } });
    expect(world.condition('Ready')).toMatchObject({ status: 'True' });
    expect(world.lease()?.metadata?.ownerReferences).toMatchObject([{ uid: other.metadata?.uid }]);
    await world.node.stop();
  });
});

describe('conflicts', () => {
  it('of a patch are followed by a read and a patch, five times, and then by a backoff', async () => {
    let ready = true;
    const world = new NodeWorld({ readiness: () => ({ ready }) });
    await world.start();
    world.takeCalls();
    const conflict = (): never => {
      throw refusal(409, 'Conflict');
    };
    world.next('PATCH nodes/status', conflict, conflict, conflict, conflict, conflict);
    ready = false;
    world.node.changed();
    await settle(40);
    const pair = ['PATCH nodes/status', 'GET nodes'];
    expect(world.takeCalls()).toEqual([...pair, ...pair, ...pair, ...pair, 'PATCH nodes/status']);
    expect(world.node.explain().nodeFailure).toMatchObject({ errorClass: 'conflict', attempt: 1 });
    await world.clock.advance(1000);
    expect(world.condition('Ready')).toMatchObject({ status: 'False' });
    await world.node.stop();
  });

  it('with another uid, of which a broken watch has not told, are solved by a read', async () => {
    let ready = true;
    const world = new NodeWorld({ readiness: () => ({ ready }) });
    await world.start();
    world.isDown = true;
    world.dropWatches();
    await settle(5);
    world.mayWatch = false;
    world.isDown = false;
    world.nodes.remove({ name: nodeName });
    const { metadata } = world.nodes.create({ metadata: { name: nodeName } });
    world.takeCalls();
    ready = false;
    world.node.changed();
    await settle(20);
    expect(world.takeCalls().slice(0, 3)).toEqual(['PATCH nodes/status', 'GET nodes', 'PATCH nodes/status']);
    expect(world.condition('Ready')).toMatchObject({ status: 'False' });
    expect(world.node.explain().uid).toBe(metadata?.uid);
    await world.node.stop();
  });

  it('with no node at all, of which a broken watch has not told, are solved by a create', async () => {
    let ready = true;
    const world = new NodeWorld({ readiness: () => ({ ready }) });
    await world.start();
    world.isDown = true;
    world.dropWatches();
    await settle(5);
    world.mayWatch = false;
    world.isDown = false;
    world.nodes.remove({ name: nodeName });
    world.takeCalls();
    ready = false;
    world.node.changed();
    await settle(20);
    expect(world.takeCalls().slice(0, 2)).toEqual(['PATCH nodes/status', 'POST nodes']);
    expect(world.condition('Ready')).toMatchObject({ status: 'False' });
    await world.node.stop();
  });

  it('of a status that the server will never take are met twice, and then by a backoff', async () => {
    let ready = true;
    const world = new NodeWorld({ readiness: () => ({ ready }) });
    await world.start();
    const invalid = (): never => {
      throw refusal(422, 'Invalid');
    };
    world.next('PATCH nodes/status', ...Array.from({ length: 100 }, () => invalid));
    world.takeCalls();
    ready = false;
    world.node.changed();
    await settle(20);
    expect(world.takeCalls()).toEqual(['PATCH nodes/status', 'GET nodes', 'PATCH nodes/status']);
    await world.clock.advance(minute);
    expect(world.takeCalls().filter((call) => call.startsWith('PATCH')).length).toBeLessThan(50);
    expect(world.node.explain().nodeFailure).toMatchObject({ errorClass: 'invalid' });
    await world.node.stop();
  });

  it('of a renewal are followed by a read and another renewal', async () => {
    const world = new NodeWorld();
    await world.start();
    const labels = { of: 'another' };
    const patch = { type: 'application/merge-patch+json', body: { metadata: { labels } } } as const;
    world.leases.patch({ namespace, name: nodeName }, patch);
    world.takeCalls();
    await world.clock.advance(10_200);
    expect(world.takeCalls()).toEqual(['PUT leases', 'GET leases', 'PUT leases']);
    expect(world.lease()?.metadata?.labels).toEqual(labels);
    expect(world.node.explain().rival).toBeUndefined();
    await world.node.stop();
  });
});

describe('the Lease', () => {
  it('is created again when it was deleted', async () => {
    const world = new NodeWorld();
    await world.start();
    world.leases.remove({ namespace, name: nodeName });
    await world.clock.advance(11_000);
    expect(world.lease()?.spec?.holderIdentity).toBe(nodeName);
    expect(world.lease()?.metadata?.ownerReferences).toMatchObject([{ uid: world.stored()?.metadata?.uid }]);
    await world.node.stop();
  });

  it('of another is taken over with what it holds of others', async () => {
    const world = new NodeWorld();
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: 'uid' };
    const old = { apiVersion: 'v1', kind: 'Node', name: nodeName, uid: 'old' };
    world.leases.create({
      metadata: { name: nodeName, namespace, ownerReferences: [owner, old] },
      spec: { holderIdentity: 'before', leaseDurationSeconds: 10, renewTime: '2025-12-31T23:59:55.000000Z', leaseTransitions: 3 },
    });
    await world.start();
    expect(world.lease()).toMatchObject({
      metadata: { ownerReferences: [owner, { name: nodeName, uid: world.stored()?.metadata?.uid }] },
      spec: { holderIdentity: nodeName, leaseDurationSeconds: 40, leaseTransitions: 3 },
    });
    expect(world.node.explain().rival).toBeUndefined();
    await world.node.stop();
  });

  it('tells of a second agent under the same name, and the log once in its duration', async () => {
    const world = new NodeWorld();
    await world.start();
    await world.clock.advance(3000);
    const second = world.another({ holderIdentity: 'second' });
    second.start();
    await world.clock.advance(minute);
    expect(world.node.explain().rival).toMatchObject({ holderIdentity: 'second' });
    expect(second.explain().rival).toMatchObject({ holderIdentity: nodeName });
    const told = world.logs.filter((line) => line.includes('two agents run under one name'));
    expect(told.length).toBeGreaterThanOrEqual(2);
    expect(told.length).toBeLessThanOrEqual(4);
    await Promise.all([world.node.stop(), second.stop()]);
  });

  it('whose renewal was done and the answer lost tells of no second agent', async () => {
    const world = new NodeWorld();
    await world.start();
    world.next('PUT leases', (act) => {
      act();
      throw unreachable();
    });
    await world.clock.advance(11_000);
    expect(world.calls).toContain('GET leases');
    expect(world.node.explain()).toMatchObject({ rival: undefined, leaseFailure: undefined });
    await world.node.stop();
  });

  it('goes on past a renewal that never settles', async () => {
    const world = new NodeWorld();
    await world.start();
    world.next('PUT leases', deaf);
    await world.clock.advance(40_000);
    expect(world.clock.now() - Date.parse(world.lease()?.spec?.renewTime ?? '')).toBeLessThanOrEqual(10_200);
    const stopped = world.node.stop();
    await world.clock.advance(1000);
    await stopped;
  });
});

describe('an agent whose functions fail', () => {
  const throwing = (): never => {
    throw new Error('no runtime');
  };
  const wrong = 'readiness() answered with something else than { ready: true } or { ready: false }';
  it.each<[string, unknown, string]>([
    ['throws', throwing, 'readiness() failed: no runtime'],
    ['rejects', () => Promise.reject(new Error('late')), wrong],
    ['answers with a promise', async () => ({ ready: true }), wrong],
    ['answers with true', () => true, wrong],
    ['answers with nothing', () => undefined, wrong],
    ['answers with other words', () => ({ ready: 'yes' }), wrong],
    ['says no', () => ({ ready: false }), 'the agent is not ready'],
  ])('is not ready when readiness %s', async (_, readiness, message) => {
    const world = new NodeWorld({ readiness: readiness as NonNullable<NodeObjectOptions['readiness']> });
    await world.start();
    expect(world.condition('Ready')).toMatchObject({ status: 'False', reason: 'KubeletNotReady', message });
    await world.node.stop();
  });

  it('is under pressure when it does not know', async () => {
    const world = new NodeWorld({ pressures: throwing });
    await world.start();
    for (const type of ['MemoryPressure', 'DiskPressure', 'PIDPressure']) {
      expect(world.condition(type)).toMatchObject({ status: 'True' });
    }
    await world.node.stop();
  });
});

describe('two writes of the node', () => {
  it('are never in flight, also when a patch never settles', async () => {
    let ready = true;
    const world = new NodeWorld({ readiness: () => ({ ready }) });
    await world.start();
    world.next('PATCH nodes/status', deaf);
    ready = false;
    world.node.changed();
    await world.clock.advance(5 * minute);
    world.takeCalls();
    await world.clock.advance(5 * minute);
    expect(world.takeCalls().filter((call) => call.includes('nodes'))).toEqual([]);
    expect(world.mostWrites).toBe(1);
    expect(world.clock.now() - Date.parse(world.lease()?.spec?.renewTime ?? '')).toBeLessThanOrEqual(10_200);
    const stopped = world.node.stop();
    await world.clock.advance(1000);
    await stopped;
    expect(world.clock.pendingTimers).toBe(0);
  });

  it('follow one another once the first has settled late', async () => {
    let ready = true;
    const world = new NodeWorld({ readiness: () => ({ ready }), requestTimeoutMs: 1000 });
    await world.start();
    const late = Promise.withResolvers<void>();
    world.next('PATCH nodes/status', (act) => late.promise.then(act));
    ready = false;
    world.node.changed();
    await world.clock.advance(minute);
    ready = true;
    late.resolve();
    await world.clock.advance(20_000);
    expect(world.condition('Ready')).toMatchObject({ status: 'True' });
    expect(world.mostWrites).toBe(1);
    await world.node.stop();
  });
});

describe('registration', () => {
  it('takes over a node that this user may not create, and says why where there is none', async () => {
    const forbidden = (): never => {
      throw refusal(403, 'Forbidden', 'is not allowed to set the following labels: x');
    };
    const world = new NodeWorld();
    world.next('POST nodes', ...Array.from({ length: 100 }, () => forbidden));
    await world.start();
    expect(world.node.explain().nodeFailure).toMatchObject({ errorClass: 'forbidden', error: { status: 403 } });
    world.nodes.create({ metadata: { name: nodeName } });
    await world.clock.advance(7000);
    expect(world.condition('Ready')).toMatchObject({ status: 'True' });
    await world.node.stop();
  });

  it('whose answer was lost takes over its own node', async () => {
    const world = new NodeWorld({ removeOnStop: true });
    world.next('POST nodes', (act) => {
      act();
      throw unreachable();
    });
    await world.start();
    await world.clock.advance(1000);
    expect(world.node.explain().registered).toBe(true);
    expect(await world.node.stop()).toMatchObject({ node: 'notOurs', lease: 'removed' });
  });
});
