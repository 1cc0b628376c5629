import { describe, expect, it } from 'vitest';
import { asUpstream, deleting, Harness, numberedPod, randomStatus, testPod } from './status-harness.ts';

const runningPod = (metadata = {}) =>
  testPod({
    metadata,
    spec: { containers: [{ name: 'c' }], restartPolicy: 'Never' },
    status: { containerStatuses: [container({ running: {} })] },
  });
const container = (state: object) => ({ name: 'c', image: '', imageID: '', ready: false, restartCount: 0, state });

describe('StatusManager, sending one pod as upstream does', () => {
  it('sends one request for a pod that is gone [T-SM-009]', async () => {
    const h = new Harness(asUpstream);
    expect(await h.set(testPod(), randomStatus())).toEqual(['get']);
    expect(await h.batch()).toEqual([]);
  });

  it('reads the pod, then patches it [T-SM-010]', async () => {
    const h = new Harness(asUpstream);
    const pod = h.publish(testPod());
    expect(await h.set(pod, { message: 'hello' })).toEqual(['get', 'patch']);
    expect(h.apiStatus(pod).message).toBe('hello');
  });

  it('does not write to another pod of the same name [T-SM-011]', async () => {
    const h = new Harness(asUpstream);
    h.publish(testPod({ metadata: { uid: 'first' } }));
    const second = testPod({ metadata: { uid: 'second' } });
    h.podManager.addPod(second);
    expect(await h.set(second, randomStatus())).toEqual(['get']);
    expect(h.apiStatus(second)).toEqual({});
    expect(h.manager.getPodStatus('second')).toBeUndefined();
  });

  it('writes a pod that was not found before [T-SM-012] [T-SM-014]', async () => {
    const h = new Harness(asUpstream);
    expect(await h.set(testPod(), randomStatus())).toEqual(['get']);
    h.publish(testPod());
    expect(await h.set(testPod(), randomStatus())).toEqual(['get', 'patch']);
  });

  it('drops the entry of a recreated pod, and accepts a new one [T-SM-013]', async () => {
    const h = new Harness(asUpstream);
    h.client.store.put(testPod({ metadata: { uid: 'other_pod' } }));
    h.podManager.addPod(testPod());
    expect(await h.set(testPod(), randomStatus())).toEqual(['get']);
    expect(h.manager.getPodStatus('12345678')).toBeUndefined();
    h.publish(testPod());
    expect(await h.set(testPod(), randomStatus())).toEqual(['get', 'patch']);
  });

  it('deletes no pod that is deleting only in the agent’s copy, running or not [T-SM-015] [T-SM-016]', async () => {
    const h = new Harness(asUpstream);
    h.safety.reclaimed = true;
    h.client.store.put(runningPod());
    const pod = runningPod(deleting);
    h.podManager.addPod(pod);
    expect(await h.set(pod, { message: 'x', containerStatuses: [container({ running: {} })] })).toEqual(['get', 'patch']);
    expect(await h.set(pod, { containerStatuses: [container({ terminated: { exitCode: 0 } })] })).toEqual(['get', 'patch']);
  });

  it('sends no PATCH after a failed GET [T-SM-017]', async () => {
    const h = new Harness(asUpstream);
    h.publish(testPod());
    h.client.failNext('get', { code: 500 });
    expect(await h.set(testPod(), randomStatus())).toEqual(['get']);
  });

  it('sends the newest of several statuses, once [T-SM-018]', async () => {
    const h = new Harness(asUpstream);
    const pod = h.publish(testPod());
    for (const message of ['first', 'second', 'third']) h.manager.setPodStatus(pod, { message });
    expect(await h.calls()).toEqual(['get', 'patch']);
    expect(h.apiStatus(pod).message).toBe('third');
    h.observe(pod);
    expect(await h.batch()).toEqual([]);
  });

  it('sends nothing for a status that is on the apiserver, and only a GET after reconcile [T-SM-019] [T-SM-020] [T-SM-021]', async () => {
    const h = new Harness(asUpstream);
    const pod = h.publish(testPod());
    await h.set(pod, { message: 'third' });
    expect(await h.set(pod, { message: 'third' })).toEqual([]);
    h.manager.reconcile('12345678');
    expect(await h.calls()).toEqual(['get']);
    expect(await h.set(pod, { message: 'third' })).toEqual([]);
  });
});

describe('StatusManager, sending one pod by default', () => {
  it('sends one PATCH with uid and resourceVersion when an API copy is known', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    h.manager.setPodStatus(pod, { message: 'hello' });
    await h.clock.advance(0);
    const resourceVersion = pod.metadata.resourceVersion;
    expect(h.client.actions).toMatchObject([
      { verb: 'patch', patch: { metadata: { uid: '12345678', resourceVersion }, status: { message: 'hello' } } },
    ]);
  });

  it('computes the next patch against the result of the last one', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    await h.set(pod, { message: 'one' });
    const { resourceVersion } = h.api(pod).metadata ?? {};
    h.manager.setPodStatus(pod, { message: 'two' });
    await h.clock.advance(0);
    expect(h.client.actions).toMatchObject([
      { verb: 'patch', patch: { metadata: { resourceVersion }, status: { message: 'two' } } },
    ]);
    expect(h.client.actions).toHaveLength(1);
    expect(h.client.actions[0]?.error).toBeUndefined();
  });

  it('reads a pod first only when no API copy is known', async () => {
    const h = new Harness();
    const pod = h.publishBlind(testPod());
    expect(await h.set(pod, randomStatus())).toEqual(['get', 'patch']);
    expect(await h.set(pod, randomStatus())).toEqual(['patch']);
  });

  it('prefers the pod manager’s copy when it is newer', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    await h.set(pod, { message: 'one' });
    h.rival(pod, { conditions: [{ type: 'example.com/x', status: 'True' }] });
    h.observe(pod);
    expect(await h.set(pod, { message: 'two' })).toEqual(['patch']);
    expect(h.apiStatus(pod)).toMatchObject({ message: 'two', conditions: [{ type: 'example.com/x' }] });
  });

  it('sends no request when the apiserver already has the status', async () => {
    const h = new Harness();
    const synced = h.record('synced');
    const pod = h.publish(testPod({ status: { message: 'same', startTime: '1999-01-01T00:00:00Z' } }));
    expect(await h.set(pod, { message: 'same' })).toEqual([]);
    expect(synced).toMatchObject([{ podUID: '12345678', podName: 'foo', podNamespace: 'new', version: 1, patched: false }]);
    expect(h.manager.explain('12345678').phase).toBe('in-sync');
  });

  it('does not patch what the apiserver fills in', async () => {
    const h = new Harness();
    const status = { podIP: '10.0.0.1', startTime: '1999-01-01T00:00:00Z' };
    const pod = h.publish(
      testPod({ status: { ...status, qosClass: 'Burstable', podIPs: [{ ip: '10.0.0.1' }], observedGeneration: 4 } }),
    );
    expect(await h.set(pod, status)).toEqual([]);
    expect(await h.batch()).toEqual([]);
  });

  it('sends the same by JSON Patch', async () => {
    const h = new Harness({ patchFormat: 'json' });
    const pod = h.publish(testPod({ status: { conditions: [{ type: 'example.com/x', status: 'True' }] } }));
    expect(await h.set(pod, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] })).toEqual(['patch']);
    expect(h.apiStatus(pod)).toMatchObject({
      phase: 'Running',
      conditions: [
        { type: 'example.com/x', status: 'True' },
        { type: 'Ready', status: 'True' },
      ],
    });
    h.observe(pod);
    expect(await h.batch()).toEqual([]);
  });

  it('never patches another pod of the same name [T-SM-011]', async () => {
    const h = new Harness();
    const second = h.publish(testPod({ metadata: { uid: 'second' } }));
    h.client.store.put(testPod({ metadata: { uid: 'third' } }));
    expect(await h.set(second, randomStatus())).toEqual(['patch', 'get']);
    expect(h.api(second)).toMatchObject({ metadata: { uid: 'third' } });
    expect(h.api(second).status).toBeUndefined();
    expect(h.manager.getPodStatus('second')).toBeUndefined();
  });

  it('sends the other pods while one pod fails', async () => {
    const h = new Harness({ concurrency: 1 });
    const pods = [1, 2, 3].map((n) => h.publish(numberedPod(n)));
    h.client.failNext('patch', { name: 'pod-2', code: 403, times: 100 });
    for (const pod of pods) h.manager.setPodStatus(pod, { phase: 'Running' });
    await h.calls();
    expect(pods.map((pod) => h.apiStatus(pod).phase)).toEqual(['Running', undefined, 'Running']);
  });
});
