import { describe, expect, it } from 'vitest';
import { StatusManagerError } from '../../../../src/base/errors.ts';
import { settle } from '../../../../src/testing/fakes/fake-clock.ts';
import { recordedLines } from '../../../support/recorded-lines.ts';
import { type Interference, ReconcilerWorld, rejecting } from './reconciler-world.ts';
import { refusal } from './recording-transport.ts';

const name = 'web_default';

describe('a request that fails', () => {
  it('is tried again after a wait that grows, is capped and has jitter', async () => {
    const randoms = [0.25, 0.75];
    const world = new ReconcilerWorld({ random: () => randoms[world.failures.length % 2] ?? 0.5 });
    for (let i = 0; i < 20; i++) world.next('create', rejecting(refusal(500, 'InternalError')));
    const pod = world.addStatic();
    await world.start();
    await world.clock.advance(200_000);
    expect(world.isInStep(pod)).toBe(true);
    const waits = world.failures.map(({ retryInMs }) => retryInMs);
    expect(waits.slice(0, 6)).toEqual([100, 375, 250, 1500, 1000, 6000]);
    expect(Math.max(...waits)).toBe(7500);
    expect(world.failures[19]).toMatchObject({ podFullName: name, verb: 'create', errorClass: 'unavailable', attempt: 20 });
    await world.reconciler.stop();
  });

  it('is not tried again without a pause, whatever the random numbers are', async () => {
    const world = new ReconcilerWorld({ random: () => 0 });
    for (let i = 0; i < 1000; i++) world.next('create', rejecting(refusal(500, 'InternalError')));
    world.addStatic();
    await world.start();
    await world.clock.advance(1000);
    expect(world.failures.map(({ retryInMs }) => retryInMs)).toEqual(Array(11).fill(100));
    await world.reconciler.stop();
  });

  it('has one line in the log once it has succeeded, with the failures before it', async () => {
    const { logger, saying } = recordedLines();
    const world = new ReconcilerWorld({ logger });
    for (let i = 0; i < 3; i++) world.next('create', rejecting(refusal(500, 'InternalError')));
    const pod = world.addStatic();
    await world.start();
    await world.clock.advance(60_000);
    world.remove(name);
    await world.clock.advance(60_000);
    expect(world.isInStep(pod)).toBe(true);
    expect(saying('a mirror pod is kept in step again')).toMatchObject([
      { level: 'info', fields: { podName: 'web', podNamespace: 'default', attempt: 3 } },
    ]);
    await world.reconciler.stop();
  });

  it('begins its waits anew after a success, and after its static pod was gone', async () => {
    const world = new ReconcilerWorld();
    const fail = rejecting(refusal(422, 'Invalid'));
    for (let i = 0; i < 3; i++) world.next('create', fail);
    const pod = world.addStatic();
    await world.start();
    await world.clock.advance(10_000);
    world.next('create', fail);
    world.remove(name);
    await settle(10);
    expect(world.failures.map(({ attempt, retryInMs }) => [attempt, retryInMs])).toEqual([
      [1, 125],
      [2, 250],
      [3, 500],
      [1, 125],
    ]);
    world.podManager.removePod(pod);
    await settle();
    world.next('create', fail);
    world.podManager.addPod(pod);
    await settle(10);
    expect(world.failures.at(-1)).toMatchObject({ attempt: 1, retryInMs: 125 });
    await world.reconciler.stop();
  });

  it('delays no other pod', async () => {
    const world = new ReconcilerWorld();
    world.next('create', rejecting(refusal(422, 'Invalid')));
    const bad = world.addStatic('bad');
    const good = world.addStatic('good');
    await world.start();
    expect([bad, good].map((pod) => world.isInStep(pod))).toEqual([false, true]);
    await world.clock.advance(125);
    expect(world.isInStep(bad)).toBe(true);
    await world.reconciler.stop();
  });

  it('waits as long as the server asks', async () => {
    const world = new ReconcilerWorld();
    const busy = Object.assign(new Error('busy'), { status: 429, reason: 'TooManyRequests', retryAfterMs: 20_000 });
    world.next('create', rejecting(busy));
    world.addStatic();
    await world.start();
    await world.clock.advance(20_000);
    expect(world.takeCalls()).toHaveLength(1);
    await world.clock.advance(125);
    expect(world.takeCalls()).toHaveLength(1);
    await world.reconciler.stop();
  });

  it('is tried again at once when its static pod changes, when it is asked for, or when the server answers another pod', async () => {
    const world = new ReconcilerWorld();
    for (let i = 0; i < 3; i++) world.next('create', rejecting(refusal(503, 'ServiceUnavailable')));
    world.addStatic();
    await world.start();
    const changed = world.addStatic('web', 'hash-2');
    await settle();
    expect(world.failures).toHaveLength(2);
    world.reconciler.reconcile(name);
    await settle();
    expect(world.failures).toHaveLength(3);
    world.addStatic('other');
    await settle(10);
    expect(world.isInStep(changed)).toBe(true);
    await world.reconciler.stop();
  });

  it('for want of the node is tried again at least every second', async () => {
    const world = new ReconcilerWorld();
    for (let i = 0; i < 40; i++) world.next('create', rejecting(new StatusManagerError('ERR_NO_NODE', 'no node')));
    world.addStatic();
    await world.start();
    await world.clock.advance(40_000);
    expect(Math.max(...world.failures.map(({ retryInMs }) => retryInMs))).toBe(1000);
    await world.reconciler.stop();
  });

  it('after it had its effect leads to one mirror pod', async () => {
    const world = new ReconcilerWorld();
    const lost: Interference = (act) => {
      act();
      throw refusal(504, 'Timeout');
    };
    const pod = world.addStatic();
    world.watches = false;
    world.next('create', lost);
    await world.start();
    await world.clock.advance(125);
    expect(world.takeCalls()).toEqual([`create ${name} hash-1`, `create ${name} hash-1`, `read ${name}`]);
    const uid = world.uid();
    world.catchUp();
    world.next('delete', lost);
    const changed = world.addStatic('web', 'hash-2');
    await world.clock.advance(1000);
    expect(world.takeCalls().slice(0, 1)).toEqual([`delete ${name} ${uid}`]);
    expect([pod, changed].map((one) => world.isInStep(one))).toEqual([false, true]);
    await world.reconciler.stop();
  });

  it('with an answer that is no answer counts as failed', async () => {
    const world = new ReconcilerWorld();
    for (const answer of [undefined, {}, { outcome: 'created', mirrorPod: {} }, 'yes']) world.next('create', () => answer);
    const pod = world.addStatic();
    await world.start();
    await world.clock.advance(20_000);
    expect(world.failures.map(({ errorClass }) => errorClass)).toEqual(Array(4).fill('broken-answer'));
    world.next('delete', () => ({ deleted: 'perhaps' }));
    const changed = world.addStatic('web', 'hash-2');
    await world.clock.advance(20_000);
    expect(world.failures).toHaveLength(5);
    expect([pod, changed].map((one) => world.isInStep(one))).toEqual([false, true]);
    await world.reconciler.stop();
  });

  it('leaves the other pods and the process alone when a handler throws', async () => {
    const fails = (): never => {
      throw new Error('handler');
    };
    const handlers = { mirrorPodCreated: fails, mirrorPodDeleted: fails, failed: fails };
    const world = new ReconcilerWorld({ handlers });
    world.next('create', rejecting(refusal(500, 'InternalError')));
    world.addStatic();
    await world.start();
    const pod = world.addStatic('web', 'hash-2');
    await world.clock.advance(1000);
    expect(world.isInStep(pod)).toBe(true);
    await world.reconciler.stop();
  });
});

describe('a name that is taken', () => {
  it('by an outdated mirror pod that is not shown: it is read, and replaced by its own uid', async () => {
    const world = new ReconcilerWorld();
    world.watches = false;
    const old = world.putMirrorOf(world.addStatic('web', 'hash-0'));
    const pod = world.addStatic();
    await world.start();
    await settle(20);
    expect(world.takeCalls()).toEqual([
      `create ${name} hash-1`,
      `read ${name}`,
      `delete ${name} ${old.metadata?.uid}`,
      `create ${name} hash-1`,
    ]);
    expect(world.isInStep(pod)).toBe(true);
    await world.reconciler.stop();
  });

  it('by another mirror pod than the one shown: the wrong uid deletes nothing, and the right one does', async () => {
    const world = new ReconcilerWorld();
    const old = world.putMirrorOf(world.addStatic('web', 'hash-0'));
    const pod = world.addStatic();
    world.watches = false;
    world.remove(name);
    const newer = world.putMirrorOf(pod, { metadata: { annotations: { 'kubernetes.io/config.mirror': 'hash-0' } } });
    await world.start();
    await settle(20);
    expect(world.takeCalls()).toEqual([
      `delete ${name} ${old.metadata?.uid}`,
      `read ${name}`,
      `delete ${name} ${newer.metadata?.uid}`,
      `create ${name} hash-1`,
    ]);
    expect(world.isInStep(pod)).toBe(true);
    await world.reconciler.stop();
  });

  it('by a pod that may not be read: it is asked for by creating it again', async () => {
    const world = new ReconcilerWorld();
    world.watches = false;
    const pod = world.addStatic();
    world.putOrdinary('web', { nodeName: 'node-2' });
    for (let i = 0; i < 100; i++) world.next('read', rejecting(refusal(403, 'Forbidden')));
    await world.start();
    await world.clock.advance(60_000);
    expect(new Set(world.failures.map(({ verb, errorClass }) => `${verb} ${errorClass}`))).toEqual(new Set(['read forbidden']));
    expect(world.calls.length).toBeLessThan(50);
    world.remove(name);
    await world.clock.advance(10_000);
    expect(world.isInStep(pod)).toBe(true);
    await world.reconciler.stop();
  });

  it('by a pod that the server has called gone before: it is tried again after a wait, as after any failure', async () => {
    const world = new ReconcilerWorld();
    const old = world.putMirrorOf(world.addStatic('web', 'hash-0'));
    const pod = world.addStatic();
    for (let i = 0; i < 5; i++) {
      world.next('delete', () => ({ deleted: false, reason: 'notFound', error: refusal(404, 'NotFound') }));
    }
    await world.start();
    await world.clock.advance(60);
    expect(world.calls).toEqual([`delete ${name} ${old.metadata?.uid}`, `create ${name} hash-1`, `read ${name}`]);
    await world.clock.advance(20_000);
    expect(world.isInStep(pod)).toBe(true);
    await world.reconciler.stop();
  });
});

describe('a mirror pod that finalizers hold', () => {
  it('is deleted once, asked about now and then, and replaced when it is gone', async () => {
    const world = new ReconcilerWorld();
    const old = world.putMirrorOf(world.addStatic('web', 'hash-0'), { metadata: { finalizers: ['example.test/keep'] } });
    const pod = world.addStatic();
    await world.start();
    await world.clock.advance(100_000);
    const calls = world.takeCalls();
    expect(calls.filter((call) => !call.startsWith('read'))).toEqual([`delete ${name} ${old.metadata?.uid}`]);
    expect(calls.length).toBeLessThan(12);
    world.remove(name);
    await settle();
    expect(world.isInStep(pod)).toBe(true);
    await world.reconciler.stop();
  });

  it('is replaced also when the pod manager never hears of its end', async () => {
    const world = new ReconcilerWorld();
    world.putMirrorOf(world.addStatic('web', 'hash-0'), { metadata: { finalizers: ['example.test/keep'] } });
    const pod = world.addStatic();
    await world.start();
    world.watches = false;
    world.remove(name);
    await world.clock.advance(2000);
    expect(world.isInStep(pod)).toBe(true);
    await world.reconciler.stop();
  });
});

describe('while the pod manager hears of nothing', () => {
  it('a mirror pod that was created is asked about, and created again when it is gone', async () => {
    const world = new ReconcilerWorld();
    world.watches = false;
    const pod = world.addStatic();
    await world.start();
    world.remove(name);
    await world.clock.advance(1000);
    expect(world.isInStep(pod)).toBe(true);
    await world.clock.advance(300_000);
    expect(world.calls.length).toBeLessThan(25);
    await world.reconciler.stop();
  });

  it('an older mirror pod that it hears of later does not count beside the one that was read', async () => {
    const world = new ReconcilerWorld();
    world.watches = false;
    world.putMirrorOf(world.addStatic('web', 'hash-0'));
    world.remove(name);
    const pod = world.addStatic();
    const byAnother = world.putMirrorOf(pod);
    await world.start();
    await settle(20);
    expect(world.takeCalls()).toEqual([`create ${name} hash-1`, `read ${name}`]);
    // the first thing that it hears of is the mirror pod that is gone
    world.hearNext();
    await settle(20);
    expect(world.podManager.getMirrorPodByPod(pod)?.metadata?.uid).not.toBe(byAnother.metadata?.uid);
    expect(world.takeCalls()).toEqual([]);
    await world.reconciler.stop();
  });

  it('an older view does not undo what the server has answered', async () => {
    const world = new ReconcilerWorld();
    world.putMirrorOf(world.addStatic('web', 'hash-0'));
    const pod = world.addStatic();
    world.watches = false;
    await world.start();
    await settle(20);
    world.takeCalls();
    // the pod manager hears of another copy of the pod that is gone
    const shown = world.podManager.getPodsAndMirrorPods().allMirrorPods[0] ?? {};
    world.podManager.replacePod({ ...shown });
    await settle(20);
    expect(world.takeCalls()).toEqual([]);
    expect(world.isInStep(pod)).toBe(true);
    await world.reconciler.stop();
  });
});

describe('requests', () => {
  it('go out for so many pods at once, and never two of one pod', async () => {
    const world = new ReconcilerWorld({ concurrency: 3 });
    const pods = Array.from({ length: 10 }, (_, index) => world.addStatic(`web-${index}`));
    await world.start();
    await settle(30);
    expect(pods.every((pod) => world.isInStep(pod))).toBe(true);
    expect(world.mostInFlight).toBe(3);
    await world.reconciler.stop();
  });

  it('wait for the one of their pod that never settles a second beyond its limit, and then begin with a read', async () => {
    // a client that does not heed its signal
    const calls: string[] = [];
    const unheeding = (verb: string) => (): Promise<never> => {
      calls.push(verb);
      return new Promise(() => {});
    };
    const mirrorPodClient = {
      createMirrorPod: unheeding('create'),
      deleteMirrorPod: unheeding('delete'),
      getMirrorPod: unheeding('read'),
    };
    const stuck = new ReconcilerWorld({ concurrency: 1, requestTimeoutMs: 1000, mirrorPodClient });
    stuck.addStatic('a');
    stuck.addStatic('b');
    await stuck.start();
    await stuck.clock.advance(1999);
    expect(calls).toEqual(['create', 'create']);
    await stuck.clock.advance(2000);
    expect(calls).toEqual(['create', 'create', 'read', 'read']);
    expect(new Set(stuck.failures.map(({ errorClass }) => errorClass))).toEqual(new Set(['timeout']));
    const stopped = stuck.reconciler.stop();
    await stuck.clock.advance(1000);
    await stopped;
    expect(stuck.clock.pendingTimers).toBe(0);
  });
});
