import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/client/transport/api-error.ts';
import { Harness, numberedPod, settle, testPod } from './status-harness.ts';

const uid = '12345678';

// not-started, cache-only: status-manager-lifecycle; backing-off, paused: -failures; quarantined, gone: -refusals;
// no-mirror-pod: -static-pods; deleting, terminal-phase-held-back: -deletion
describe('StatusManager.explain', () => {
  it('says unknown for a pod without a status', () => {
    expect(new Harness().manager.explain(uid)).toEqual({
      podUID: uid,
      podNamespace: '',
      podName: '',
      phase: 'unknown',
      problem: undefined,
      reason: 'no status was set for this pod, or its entry was dropped',
      version: undefined,
      acknowledgedVersion: 0,
      apiUID: uid,
      attempt: 0,
      lastError: undefined,
      retryAt: undefined,
      differs: [],
    });
  });

  it('goes from pending to in-flight to in-sync', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    h.client.hold();
    h.manager.setPodStatus(pod, { phase: 'Running' });
    expect(h.manager.explain(uid)).toMatchObject({ phase: 'pending', version: 1, acknowledgedVersion: 0 });
    await settle();
    expect(h.manager.explain(uid)).toMatchObject({ phase: 'in-flight', version: 1, acknowledgedVersion: 0 });
    h.client.release();
    await settle();
    expect(h.manager.explain(uid)).toMatchObject({ phase: 'in-sync', version: 1, acknowledgedVersion: 1, differs: [] });
  });

  it('is pending while other pods have the slots', async () => {
    const h = new Harness({ concurrency: 1 });
    const [one, two] = [h.publish(numberedPod(1)), h.publish(numberedPod(2))];
    h.client.hold();
    h.manager.setPodStatus(one, { phase: 'Running' });
    h.manager.setPodStatus(two, { phase: 'Running' });
    await settle();
    expect([h.manager.explain('uid-1').phase, h.manager.explain('uid-2').phase]).toEqual(['in-flight', 'pending']);
  });

  it('names the differences from the freshest API copy', () => {
    const h = new Harness({ started: false });
    const pod = h.publish(testPod({ status: { phase: 'Pending', podIP: '10.0.0.1', startTime: '1999-01-01T00:00:00Z' } }));
    h.manager.setPodStatus(pod, { phase: 'Running', podIP: '10.0.0.1', message: 'm' });
    expect([...h.manager.explain(uid).differs].sort()).toEqual(['/message', '/phase']);
  });

  it.each(['strategic', 'json'] as const)('names only what a patch would change: %s', async (patchFormat) => {
    const foreign = { type: 'example.com/gate', status: 'True' } as const;
    const h = new Harness({ patchFormat });
    const pod = h.publish(testPod({ status: { qosClass: 'Burstable', conditions: [foreign] } }));
    const ready = { type: 'Ready', status: 'True' };
    await h.set(pod, { phase: 'Running', conditions: [ready, { type: 'Initialized', status: 'True' }] });
    expect(h.manager.explain(uid)).toMatchObject({ phase: 'in-sync', differs: [] });
    h.rival(pod, { message: 'theirs' });
    h.observe(pod);
    expect(h.manager.explain(uid).differs).toEqual(['/message']);
  });

  it('does not name a terminal phase that is held back', async () => {
    const h = new Harness();
    h.safety.running = true;
    const pod = h.publish(testPod());
    await h.set(pod, { phase: 'Failed' });
    expect(h.manager.explain(uid)).toMatchObject({ phase: 'terminal-phase-held-back', differs: [] });
  });

  it('has the last error with its reason', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    h.client.failNext('patch', { code: 403 });
    await h.set(pod, { phase: 'Running' });
    expect(h.manager.explain(uid).reason).toMatch(/^the last attempt failed and is tried again \(forbidden: .+\)$/);
  });

  it.each([
    ['asked for by the apiserver', new ApiError({ status: 429, reason: 'TooManyRequests', message: 'later' }), 'throttled'],
    [
      'made before any request, since there are no credentials',
      new ApiError({ reason: 'NoCredentials', message: 'no plugin' }),
      'unauthorized',
    ],
  ])('says of a pause no more than is true: one %s', async (_, error, errorClass) => {
    const h = new Harness();
    const [pod, other] = [h.publish(numberedPod(1)), h.publish(numberedPod(2))];
    Object.assign(h.client, { patchPodStatus: () => Promise.reject(error) });
    await h.set(pod, { phase: 'Running' });
    h.manager.setPodStatus(other, { phase: 'Running' });
    const waits = 'all requests wait: the apiserver has asked for that, or there are no valid credentials';
    expect(h.manager.explain('uid-1').reason).toBe(`${waits} (${errorClass}: ${error.message})`);
    expect(h.manager.explain('uid-2')).toMatchObject({ phase: 'paused', reason: waits });
  });

  it('speaks of no request of which it cannot know', async () => {
    const h = new Harness({ concurrency: 1 });
    const [pod, other] = [h.publish(numberedPod(1)), h.publish(numberedPod(2))];
    h.client.hold();
    for (const one of [pod, other]) h.manager.setPodStatus(one, { phase: 'Running' });
    await settle();
    const reasons = ['uid-1', 'uid-2'].map((podUID) => h.manager.explain(podUID).reason);
    expect(reasons).toEqual(['a sync of this pod is under way', 'the newest version waits for its turn']);
  });

  it('changes nothing', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    h.manager.explain(uid);
    await h.set(pod, { phase: 'Running' });
    h.manager.explain(uid);
    expect(await h.batch()).toEqual([]);
    expect(h.manager.getPodStatus(uid)?.phase).toBe('Running');
  });
});
