import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/base/clock.ts';
import type { Logger } from '../../../src/base/logging/logger.ts';
import type { MetricsSink } from '../../../src/base/metrics/metrics.ts';
import { BasicPodManager } from '../../../src/status/pods/basic-pod-manager.ts';
import type { PodManager } from '../../../src/status/pods/pod-manager.ts';
import { StatusManager } from '../../../src/status/status-manager.ts';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.ts';
import { FakePodClient } from '../../../src/testing/fakes/fake-pod-client.ts';
import { unhandledRejectionsOf } from '../../support/unhandled-rejections.ts';
import { deleting, Harness, numberedPod, settle, testPod } from './status-harness.ts';

// Whatever an injected part answers, throws or rejects with: the manager takes the careful answer, and the process lives.

const boom = (): never => {
  throw new Error('boom');
};
const rejects = async (): Promise<never> => boom();
const uid = '12345678';

/** A manager, and the errors it has logged. */
function withLog(options: object) {
  const errors: { readonly podUID?: string; readonly message: string }[] = [];
  const silent = (): void => {};
  const error = (fields: object, message: string): void => void errors.push({ ...fields, message });
  const logger: Logger = { debug: silent, info: silent, warn: silent, error };
  return { errors, h: new Harness({ logger, ...options }) };
}

describe('a PodDeletionSafety that gives no boolean', () => {
  const odd: [string, () => unknown][] = [
    ['undefined', () => undefined],
    ['null', () => null],
    ['0', () => 0],
    ['1', () => 1],
    ['a text', () => 'false'],
    ['an object', () => ({})],
    ['a promise of the answer that permits', async () => false],
    ['a promise of the other answer', async () => true],
    ['a promise that rejects', rejects],
    ['an exception', boom],
  ];

  it.each(odd)('holds a terminal phase back, and is reported once for each pod: %s', async (_, answer) => {
    const safety = { podCouldHaveRunningContainers: answer as () => boolean, podResourcesAreReclaimed: () => false };
    const { h, errors } = withLog({ podDeletionSafety: safety });
    const pods = [h.publish(numberedPod(1)), h.publish(numberedPod(2))];
    const unhandled = await unhandledRejectionsOf(async () => {
      for (const pod of pods) await h.set(pod, { phase: 'Failed', message: 'm' });
      await h.batch();
      await h.batch();
    });
    expect(pods.map((pod) => [h.apiStatus(pod).phase, h.apiStatus(pod).message])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ]);
    expect(h.manager.explain('uid-1').phase).toBe('terminal-phase-held-back');
    expect(unhandled).toEqual([]);
    const reported = errors.filter(({ message }) => message.startsWith('the pod deletion safety gave no boolean'));
    expect(reported.map(({ podUID }) => podUID)).toEqual(['uid-1', 'uid-2']);
  });

  it.each(odd)('deletes nothing: %s', async (what, answer) => {
    const reclaimed = what.includes('permits') ? async () => true : answer;
    const safety = { podCouldHaveRunningContainers: () => false, podResourcesAreReclaimed: reclaimed as () => boolean };
    const { h } = withLog({ podDeletionSafety: safety });
    const pod = h.publish(testPod({ metadata: deleting, status: { phase: 'Failed' } }));
    const unhandled = await unhandledRejectionsOf(async () => {
      h.manager.setPodStatus(pod, { phase: 'Failed' });
      h.manager.terminatePod(pod);
      await h.batch();
    });
    expect([h.client.verbs().includes('delete'), unhandled]).toEqual([false, []]);
  });
});

it('a pod manager that fails is not mistaken for a PodDeletionSafety that does', async () => {
  const { h, errors } = withLog({ started: false });
  const pod = h.publish(testPod());
  h.manager.setPodStatus(pod, { phase: 'Failed' });
  const { getPodByUID } = h.podManager;
  // the first question names the target, the second is about safety
  let asked = 0;
  h.podManager.getPodByUID = (podUID) => (++asked > 1 ? boom() : getPodByUID.call(h.podManager, podUID));
  h.manager.explain(uid);
  h.manager.explain(uid);
  const [error, ...others] = errors.map(({ message }) => message);
  expect([error?.startsWith('the pod manager failed;'), others]).toEqual([true, []]);
});

it('a PodDeletionSafety whose promise rejects after the status was dropped is not reported once more', async () => {
  const late = Promise.withResolvers<never>();
  const safety = { podCouldHaveRunningContainers: () => late.promise, podResourcesAreReclaimed: () => false };
  const { h, errors } = withLog({ podDeletionSafety: safety });
  const pod = h.publish(testPod());
  await h.set(pod, { phase: 'Failed' });
  h.manager.removeOrphanedStatuses(new Set());
  const unhandled = await unhandledRejectionsOf(() => late.reject(new Error('late')));
  expect([unhandled, errors.length]).toEqual([[], 1]);
});

describe('an injected part that rejects', () => {
  const brokenLogger = { debug: rejects, info: rejects, warn: rejects, error: rejects } as unknown as Logger;
  const brokenMetrics = { increment: rejects, observe: rejects, set: rejects } as unknown as MetricsSink;

  it.each([
    ['a logger', { logger: brokenLogger }],
    ['a metrics sink', { metrics: brokenMetrics }],
    ['a pod source', { podSource: { lastObservedAt: rejects as never } }],
  ])('stops neither a sync nor a batch nor the process: %s', async (_, options) => {
    const h = new Harness(options);
    const pod = h.publish(testPod());
    h.client.failNext('patch', { code: 500 });
    const unhandled = await unhandledRejectionsOf(async () => {
      await h.set(pod, { message: 'm' });
      await h.clock.advance(500);
      await h.batch();
    });
    expect([unhandled, h.apiStatus(pod).message]).toEqual([[], 'm']);
  });

  it('stops nothing when it is a listener of any event', async () => {
    const h = new Harness();
    const pod = h.publish(testPod({ spec: { containers: [{ name: 'c' }], restartPolicy: 'Never' } }));
    for (const event of ['podUpdated', 'podRemoved', 'synced', 'syncError', 'illegalTransition'] as const) {
      h.manager.on(event, rejects);
    }
    const container = { name: 'c', image: '', imageID: '', ready: false, restartCount: 0 };
    h.client.failNext('patch', { code: 500 });
    const unhandled = await unhandledRejectionsOf(async () => {
      await h.set(pod, { containerStatuses: [{ ...container, state: { terminated: { exitCode: 0 } } }] });
      await h.set(pod, { containerStatuses: [{ ...container, state: { running: {} } }] });
      h.manager.terminatePod(pod);
      await h.clock.advance(500);
    });
    expect([unhandled, h.manager.explain(uid).phase]).toEqual([[], 'in-sync']);
  });
});

describe('a source of random numbers that fails', () => {
  it.each([
    boom,
    rejects,
    () => Number.NaN,
    () => -1,
    () => 10_000,
  ])('does not stop the retry of a failed pod: %#', async (random) => {
    const h = new Harness({ random: random as () => number });
    const pod = h.publish(testPod());
    h.client.failNext('patch', { code: 500 });
    const unhandled = await unhandledRejectionsOf(async () => {
      await h.set(pod, { message: 'm' });
      await h.clock.advance(500);
    });
    expect([unhandled, h.apiStatus(pod).message]).toEqual([[], 'm']);
  });
});

describe('a source of random numbers that always gives 0', () => {
  it.each([
    ['after a failure of one pod', { code: 500 }],
    ['after a failure that concerns all', { code: 429 }],
  ])('leaves a pause between the requests: %s', async (_what, failure) => {
    const h = new Harness({ random: () => 0 });
    const pod = h.publish(testPod());
    const errors = h.record('syncError');
    h.client.failNext('patch', { ...failure, times: 1000 });
    h.manager.setPodStatus(pod, { message: 'm' });
    await h.clock.advance(1000);
    expect(errors.map(({ retryInMs }) => retryInMs)).toEqual(Array(11).fill(100));
    await h.manager.stop();
  });
});

describe('a clock that gives nothing to cancel a timer with', () => {
  it('stops neither a sync nor the stop of the manager', async () => {
    const fake = new FakeClock();
    const setTimer = ((callback: () => void, ms: number) => void fake.setTimer(callback, ms)) as unknown as Clock['setTimer'];
    const podClient = new FakePodClient();
    const podManager = new BasicPodManager();
    const safety = { podCouldHaveRunningContainers: () => false, podResourcesAreReclaimed: () => false };
    const clock = { now: () => fake.now(), setTimer };
    const manager = new StatusManager({ logger: null, podClient, podManager, podDeletionSafety: safety, clock });
    const pod = podClient.store.put(testPod());
    podManager.addPod(pod);
    manager.start();
    const unhandled = await unhandledRejectionsOf(async () => {
      manager.setPodStatus(pod, { message: 'm' });
      await settle();
      expect(manager.explain(uid).phase).toBe('in-sync');
      await manager.stop();
      await fake.advance(60_000);
    });
    expect([unhandled, podClient.verbs()]).toEqual([[], ['patch']]);
  });
});

describe('a pod manager with wrong answers', () => {
  const broken: [keyof PodManager, () => unknown][] = [
    ['getPodByUID', rejects],
    ['getPodByUID', () => 'pod'],
    ['getMirrorPodByPod', rejects],
    ['translatePodUID', rejects],
    ['translatePodUID', () => undefined],
    ['getUIDTranslations', rejects],
    ['getUIDTranslations', () => ({})],
    ['getUIDTranslations', boom],
  ];

  it.each(broken)('loses no status: the manager writes it when the answers are right again: %s %#', async (method, answer) => {
    const { h } = withLog({});
    const pod = h.publish(testPod());
    const right = h.podManager[method as 'getPodByUID'];
    const set = (value: unknown): unknown => Object.assign(h.podManager, { [method]: value });
    const unhandled = await unhandledRejectionsOf(async () => {
      set(answer);
      expect(h.manager.setPodStatus(pod, { message: 'm' })).toBe(true);
      expect(h.manager.getPodStatus(uid)?.message).toBe('m');
      expect(() => h.manager.reconcile(uid)).not.toThrow();
      await h.batch();
      set(right);
      await h.clock.advance(60_000);
    });
    expect([unhandled, h.apiStatus(pod).message]).toEqual([[], 'm']);
  });

  it.each(broken)('does not stop the manager from stopping: %s %#', async (method, answer) => {
    const { h } = withLog({});
    const pod = h.publish(testPod());
    Object.assign(h.podManager, { [method]: answer });
    const unhandled = await unhandledRejectionsOf(async () => {
      h.manager.setPodStatus(pod, { message: 'm' });
      await settle();
      await h.manager.stop({ drainTimeoutMs: 0 });
    });
    expect([unhandled, h.manager.state, h.clock.pendingTimers]).toEqual([[], 'stopped', 0]);
  });
});

describe('a pod client that rejects with what cannot be read', () => {
  it.each([
    ['a getter that throws', () => Object.defineProperty({}, 'status', { get: boom })],
    ['a code that cannot become text', () => ({ body: '', code: Object.create(null) })],
  ])('costs its pod a backoff: %s', async (_, error) => {
    const h = new Harness();
    const failures = h.record('syncError');
    const pod = h.publish(testPod());
    const { patchPodStatus } = h.client;
    Object.assign(h.client, { patchPodStatus: () => Promise.reject(error()) });
    const unhandled = await unhandledRejectionsOf(() => h.set(pod, { message: 'm' }));
    expect([unhandled, h.manager.explain(uid).phase]).toEqual([[], 'backing-off']);
    expect(failures).toMatchObject([{ errorClass: 'unavailable' }]);
    Object.assign(h.client, { patchPodStatus });
    await h.clock.advance(1_000);
    expect(h.apiStatus(pod).message).toBe('m');
  });
});

describe('a pod client with wrong answers', () => {
  it.each([
    ['patchPodStatus', undefined],
    ['patchPodStatus', 5],
    ['patchPodStatus', { uid: 'another', resourceVersion: '7' }],
    ['patchPodStatus', { uid, resourceVersion: 7 }],
    ['getPod', undefined],
    ['getPod', 'pod'],
    ['getPod', { status: [] }],
    ['getPod', { metadata: { uid: 42 } }],
    ['getPod', { metadata: null }],
  ] as const)('counts as a broken answer, and the manager writes the status later: %s %j', async (method, answer) => {
    const h = new Harness({ fetchBeforePatch: 'always' });
    const failures = h.record('syncError');
    const pod = h.publish(testPod());
    const right = h.client[method];
    Object.assign(h.client, { [method]: async () => answer });
    await h.set(pod, { message: 'm' });
    expect(failures).toMatchObject([{ errorClass: 'broken-answer' }]);
    Object.assign(h.client, { [method]: right });
    await h.clock.advance(1_000);
    expect([h.apiStatus(pod).message, h.manager.explain(uid).phase]).toEqual(['m', 'in-sync']);
  });

  it.each([5, 'deleted', { finalizers: 'none' }, { finalizers: ['x'] }])('does not count %j as a deletion', async (answer) => {
    const h = new Harness();
    h.safety.reclaimed = true;
    const pod = h.publish(testPod({ metadata: deleting, status: { phase: 'Failed' } }));
    const { deletePod } = h.client;
    Object.assign(h.client, { deletePod: async () => answer });
    h.manager.terminatePod(pod);
    await settle();
    expect(h.manager.explain(uid)).toMatchObject({ phase: 'backing-off', lastError: { errorClass: 'broken-answer' } });
    Object.assign(h.client, { deletePod });
    await h.clock.advance(1_000);
    expect(h.client.store.list()).toEqual([]);
  });

  it('cannot change the cache through the patch it gets', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    const { client } = h;
    const patchPodStatus = client.patchPodStatus.bind(client);
    client.patchPodStatus = async (...args) => {
      const metadata = await patchPodStatus(...args);
      const { status } = args[2].body as { status: { containerStatuses: { image: string }[]; conditions: { status: string }[] } };
      for (const container of status.containerStatuses) container.image = 'changed';
      for (const condition of status.conditions) condition.status = 'changed';
      return metadata;
    };
    const container = { name: 'c', image: 'i', imageID: '', ready: false, restartCount: 0, state: { running: {} } };
    const status = { containerStatuses: [container], conditions: [{ type: 'Ready', status: 'True' }] };
    await h.set(pod, status);
    expect(h.manager.getPodStatus(uid)).toMatchObject(status);
    expect(h.manager.explain(uid)).toMatchObject({ phase: 'in-sync', differs: [] });
  });
});
