import { describe, expect, it } from 'vitest';
import type { PodSnapshot } from '../../../src/status/sync/snapshot.ts';
import { deleting, Harness, numberedPod, readyStatus, settle, testPod } from './status-harness.ts';

const uid = '12345678';
const container = (name: string, restartCount: number) => ({
  name,
  image: '',
  imageID: '',
  ready: true,
  restartCount,
  state: {},
});

function podIn(h: Harness, podUID = uid): PodSnapshot | undefined {
  return h.manager.snapshot().pods.find((pod) => pod.podUID === podUID);
}

describe('StatusManager.snapshot', () => {
  it('says of a new manager that it holds nothing', () => {
    const h = new Harness({ started: false, channelCapacity: 7 });
    expect(h.manager.snapshot()).toEqual({
      at: h.clock.now(),
      state: 'idle',
      podCount: 0,
      inFlight: 0,
      channel: { depth: 0, capacity: 7, dropped: 0 },
      pausedUntil: undefined,
      problems: [expect.objectContaining({ kind: 'not-started', help: 'Call start().' })],
      problemCount: 1,
      notes: ['the status manager was not started: it sends nothing'],
      pods: [],
    });
  });

  it('tells of a pod all that a table shows', async () => {
    const h = new Harness({ started: false });
    const pod = h.publish(testPod());
    const containerStatuses = [container('a', 2), container('b', 3)];
    h.manager.setPodStatus(pod, { phase: 'Running', ...readyStatus('True'), containerStatuses });
    expect(h.manager.snapshot().pods).toEqual([
      {
        podUID: uid,
        name: 'foo',
        namespace: 'new',
        phase: 'not-started',
        podPhase: 'Running',
        ready: true,
        restarts: 5,
        version: 1,
        acknowledgedVersion: 0,
        changedAt: h.clock.now(),
        unsentSince: h.clock.now(),
        attempt: 0,
        lastError: undefined,
        retryAt: undefined,
        isStatic: false,
        isDeleting: false,
        isFinished: false,
      },
    ]);
  });

  it('counts hints, dropped hints and requests, and follows a pod until it is in sync', async () => {
    const h = new Harness({ channelCapacity: 1 });
    const [one, two] = [h.publish(numberedPod(1)), h.publish(numberedPod(2))];
    h.client.hold();
    h.manager.setPodStatus(one, readyStatus('False'));
    h.manager.setPodStatus(two, readyStatus('True'));
    expect(h.manager.snapshot()).toMatchObject({ podCount: 2, inFlight: 0, channel: { depth: 1, capacity: 1, dropped: 1 } });
    await settle();
    expect(h.manager.snapshot()).toMatchObject({ state: 'running', inFlight: 2, channel: { depth: 0, dropped: 1 } });
    expect(podIn(h, 'uid-1')).toMatchObject({ phase: 'in-flight', ready: false, unsentSince: h.clock.now() });
    h.client.release();
    await settle();
    expect(h.manager.snapshot()).toMatchObject({ inFlight: 0 });
    expect(podIn(h, 'uid-2')).toMatchObject({ phase: 'in-sync', ready: true, acknowledgedVersion: 1, unsentSince: undefined });
  });

  it('keeps the time of the oldest unsent change apart from that of the newest', async () => {
    const h = new Harness({ started: false });
    const pod = h.publish(testPod());
    const first = h.clock.now();
    h.manager.setPodStatus(pod, { message: 'a' });
    await h.clock.advance(1_000);
    h.manager.setPodStatus(pod, { message: 'b' });
    expect(podIn(h)).toMatchObject({ version: 2, unsentSince: first, changedAt: first + 1_000 });
  });

  it('tells of failures, and when the next try is due', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    h.client.failNext('patch', { code: 500 });
    await h.set(pod, { message: 'a' });
    const { lastError, retryAt } = h.manager.explain(uid);
    expect(podIn(h)).toMatchObject({ phase: 'backing-off', attempt: 1, lastError, retryAt });
    expect(retryAt).toBeGreaterThan(h.clock.now());
  });

  it('tells of a pause of the whole client', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    h.client.failNext('patch', { code: 429, retryAfterMs: 5_000 });
    await h.set(pod, { message: 'a' });
    expect(h.manager.snapshot().pausedUntil).toBe(h.clock.now() + 5_000);
    expect(podIn(h)).toMatchObject({ phase: 'paused', retryAt: h.clock.now() + 5_000 });
  });

  it('tells static, deleting and finished pods', () => {
    const h = new Harness({ started: false });
    const annotations = { 'kubernetes.io/config.source': 'file' };
    const [fixed, dying] = [testPod({ metadata: { uid: 's', annotations } }), testPod({ metadata: { uid: 'd', ...deleting } })];
    h.podManager.addPod(fixed);
    h.manager.setPodStatus(fixed, {});
    h.manager.terminatePod(dying);
    expect(podIn(h, 's')).toMatchObject({ isStatic: true, isDeleting: false, isFinished: false });
    expect(podIn(h, 'd')).toMatchObject({ isStatic: false, isFinished: true });
    h.manager.setPodStatus(dying, {});
    expect(podIn(h, 'd')).toMatchObject({ isDeleting: true });
  });

  it('lists the pods that it is asked about, and counts all', () => {
    const h = new Harness({ started: false });
    for (const n of [1, 2, 3]) h.manager.setPodStatus(numberedPod(n), {});
    const { pods, podCount } = h.manager.snapshot({ podUIDs: new Set(['uid-3', 'gone', 'uid-1']) });
    expect(pods.map(({ podUID }) => podUID)).toEqual(['uid-3', 'uid-1']);
    expect(podCount).toBe(3);
  });

  it('refuses options that it does not know', () => {
    const { manager } = new Harness({ started: false });
    expect(() => manager.snapshot({ podUIDs: 'uid-1' })).toThrow(
      'Expected `podUIDs` to be a list or a set, got "uid-1" (string)',
    );
    expect(() => manager.snapshot({ uids: [] } as object)).toThrow('options.uids');
  });

  it('hands out nothing that can be changed, and lives on when the pod manager fails', () => {
    const h = new Harness({ started: false });
    h.manager.setPodStatus(testPod(), {});
    const taken = h.manager.snapshot();
    for (const part of [taken, taken.channel, taken.pods, taken.pods[0]]) expect(Object.isFrozen(part)).toBe(true);
    h.podManager.getPodByUID = () => {
      throw new Error('boom');
    };
    expect(podIn(h)).toMatchObject({ name: 'foo', phase: 'pending', isStatic: false });
  });
});
