import { afterEach, describe, expect, it } from 'vitest';
import { MetricsRecorder } from '../../support/metrics-recorder.ts';
import { deleting, Harness, type HarnessOptions, numberedPod, testPod } from './status-harness.ts';

let metrics = new MetricsRecorder();
afterEach(() => {
  expect(metrics.mistakes).toEqual([]);
});

function measured(options: HarnessOptions = {}): Harness {
  metrics = new MetricsRecorder();
  return new Harness({ metrics, ...options });
}

const outcomes = (): Record<string, number> => metrics.nonZero('pod_status_manager_syncs_total');
const phases = (): Record<string, number> => metrics.collect().nonZero('pod_status_manager_pods');

describe('pod_status_manager_status_updates_total', () => {
  it('counts what became of each status', () => {
    const h = measured();
    const pod = testPod({ spec: { containers: [{ name: 'c' }], restartPolicy: 'Never' } });
    const container = { name: 'c', image: '', imageID: '', ready: false, restartCount: 0 };
    h.manager.setPodStatus(pod, {
      phase: 'Running',
      containerStatuses: [{ ...container, state: { terminated: { exitCode: 0 } } }],
    });
    h.manager.setPodStatus(pod, {
      phase: 'Running',
      containerStatuses: [{ ...container, state: { terminated: { exitCode: 0 } } }],
    });
    h.manager.setPodStatus(pod, { phase: 'Running', containerStatuses: [{ ...container, state: { running: {} } }] });
    expect(metrics.nonZero('pod_status_manager_status_updates_total')).toEqual({ stored: 1, unchanged: 1, refused: 1 });
  });
});

describe('pod_status_manager_syncs_total', () => {
  it('counts a sync once, by how it ends', async () => {
    const h = measured();
    const pod = h.publish(testPod());
    await h.set(pod, { message: 'one' });
    expect(outcomes()).toEqual({ patched: 1 });
    h.client.failNext('patch', { code: 500 });
    await h.set(pod, { message: 'two' });
    expect(outcomes()).toEqual({ patched: 1, failed: 1 });
    await h.clock.advance(10_000);
    expect(outcomes()).toEqual({ patched: 2, failed: 1 });
    h.manager.reconcile('12345678');
    await h.calls();
    expect(outcomes()).toEqual({ patched: 2, failed: 1, unchanged: 1 });
  });

  it('names a status that the apiserver refuses, and a pod that it does not know', async () => {
    const h = measured();
    h.client.failNext('patch', { code: 422 });
    h.client.failNext('patch', { code: 422 });
    await h.set(h.publish(testPod()), { message: 'refused' });
    const gone = numberedPod(1);
    h.podManager.addPod(gone);
    await h.set(gone, { message: 'gone' });
    expect(outcomes()).toEqual({ quarantined: 1, gone: 1 });
    expect(phases()).toEqual({ quarantined: 1, gone: 1 });
  });

  it('counts a sync that deletes its pod as deleted', async () => {
    const h = measured();
    h.safety.reclaimed = true;
    const pod = h.publish(testPod({ metadata: deleting, status: { phase: 'Running' } }));
    h.manager.terminatePod(pod);
    await h.calls();
    expect(outcomes()).toEqual({ deleted: 1 });
  });

  it('counts what a stop gives up as aborted', async () => {
    const h = measured();
    h.client.hold();
    h.manager.setPodStatus(h.publish(testPod()), { message: 'one' });
    await h.calls();
    const stopped = h.manager.stop({ drainTimeoutMs: 0 });
    await h.clock.advance(2_000);
    await stopped;
    expect(outcomes()).toEqual({ aborted: 1 });
    h.client.release();
  });
});

describe('failures and waits', () => {
  it('are counted by class, where the pod is tried again by itself', async () => {
    const h = measured();
    for (const code of [500, 429, 401, 401]) h.client.failNext('patch', { code });
    await h.set(h.publish(testPod()), { message: 'one' });
    await h.clock.advance(60_000);
    expect(metrics.nonZero('pod_status_manager_retries_total')).toEqual({ unavailable: 1, throttled: 1, unauthorized: 1 });
    expect(metrics.nonZero('pod_status_manager_pauses_total')).toEqual({ throttled: 1, unauthorized: 1 });
  });

  it('show in a gauge how long the whole client still waits', async () => {
    const h = measured();
    h.client.failNext('patch', { code: 429, retryAfterMs: 30_000 });
    await h.set(h.publish(testPod()), { message: 'one' });
    await h.clock.advance(10_000);
    expect(metrics.collect().value('pod_status_manager_pause_remaining_seconds')).toBe(20);
    expect(phases()).toEqual({ paused: 1 });
    await h.clock.advance(30_000);
    expect(metrics.collect().value('pod_status_manager_pause_remaining_seconds')).toBe(0);
  });

  it('show how long the oldest change has waited', async () => {
    const h = measured();
    const age = (): number | undefined => metrics.collect().value('pod_status_manager_oldest_unsent_change_age_seconds');
    expect(age()).toBe(0);
    h.client.hold();
    h.manager.setPodStatus(h.publish(testPod()), { message: 'one' });
    await h.clock.advance(3_000);
    h.manager.setPodStatus(h.publish(numberedPod(1)), { message: 'two' });
    await h.clock.advance(1_000);
    expect(age()).toBe(4);
    expect(metrics.value('pod_status_manager_requests_in_flight')).toBe(2);
    expect(phases()).toEqual({ 'in-flight': 2 });
    h.client.release();
    await h.calls();
    expect([age(), phases(), metrics.value('pod_status_manager_requests_in_flight')]).toEqual([0, { 'in-sync': 2 }, 0]);
  });

  it('do not count as unsent what waits for something else than the apiserver', async () => {
    const h = measured();
    h.client.failNext('patch', { code: 422 });
    h.client.failNext('patch', { code: 422 });
    await h.set(h.publish(testPod()), { message: 'refused' });
    await h.clock.advance(5_000);
    expect(metrics.collect().value('pod_status_manager_oldest_unsent_change_age_seconds')).toBe(0);
  });

  it('count a repair of what another writer has changed', async () => {
    const h = measured();
    const pod = h.publish(testPod());
    await h.set(pod, { phase: 'Running' });
    h.publish({ ...pod, status: { phase: 'Pending' } });
    await h.clock.advance(10_000);
    expect(metrics.value('pod_status_manager_repairs_total')).toBe(1);
    expect(outcomes()).toEqual({ patched: 2 });
  });

  it('measure a repair from when it was found to be due, not from when the status was set', async () => {
    const h = measured();
    const delays: number[] = [];
    h.manager.on('synced', ({ delayMs }) => delays.push(delayMs));
    const pod = h.publish(testPod());
    await h.set(pod, { phase: 'Running' });
    await h.clock.advance(3_600_000);
    h.client.hold();
    h.publish({ ...pod, status: { phase: 'Pending' } });
    await h.clock.advance(10_000);
    // what is set while the repair is under way waits since the repair does
    h.manager.setPodStatus(pod, { phase: 'Running', message: 'newer' });
    await h.clock.advance(500);
    expect(metrics.collect().value('pod_status_manager_oldest_unsent_change_age_seconds')).toBeLessThanOrEqual(10.5);
    h.client.release();
    await h.calls();
    await h.clock.advance(10_000);
    expect(delays).toEqual([0, 10_500]);
    expect(metrics.values('kubelet_pod_status_sync_duration_seconds')).toEqual(delays.map((ms) => ms / 1000));
  });

  it('measure from the request what reconcile() has written again', async () => {
    const h = measured();
    const pod = h.publish(testPod());
    await h.set(pod, { phase: 'Running' });
    await h.clock.advance(3_600_000);
    h.client.store.put({ ...pod, status: { phase: 'Pending' } });
    h.manager.reconcile('12345678');
    await h.calls();
    expect(metrics.values('kubelet_pod_status_sync_duration_seconds')).toEqual([0, 0]);
  });
});

describe('the channel', () => {
  it('tells its depth and capacity, and what it dropped', async () => {
    const h = measured({ channelCapacity: 1 });
    for (const n of [1, 2, 3]) h.manager.setPodStatus(h.publish(numberedPod(n)), { message: 'm' });
    metrics.collect();
    const gauges = ['depth', 'capacity'].map((name) => metrics.value(`pod_status_manager_channel_${name}`));
    expect([...gauges, metrics.value('pod_status_manager_hints_dropped_total')]).toEqual([1, 1, 2]);
    await h.calls();
    expect(metrics.collect().value('pod_status_manager_channel_depth')).toBe(0);
  });
});

describe('durations', () => {
  it('are measured of requests by verb, and of batches', async () => {
    const h = measured();
    h.client.hold();
    h.manager.setPodStatus(h.publish(testPod()), { message: 'one' });
    await h.clock.advance(250);
    h.client.release();
    await h.calls();
    expect(metrics.values('pod_status_manager_request_duration_seconds', { verb: 'patch' })).toEqual([0.25]);
    await h.clock.advance(9_750);
    expect(metrics.values('pod_status_manager_batch_duration_seconds')).toEqual([0]);
  });

  it('are measured of the next pod that waits for the rate limiter', async () => {
    const h = measured({ rateLimiter: { qps: 1, burst: 1 } });
    for (const n of [1, 2]) h.manager.setPodStatus(h.publish(numberedPod(n)), { message: 'm' });
    await h.clock.advance(5_000);
    expect(metrics.values('pod_status_manager_rate_limiter_wait_seconds')).toEqual([1]);
  });
});

describe('the series of a status manager', () => {
  it('begin at zero where the values of the labels are known', () => {
    measured();
    const zero = metrics.value('pod_status_manager_requests_total', { verb: 'delete', result: 'conflict' });
    expect([zero, metrics.value('pod_status_manager_repairs_total')]).toEqual([0, 0]);
  });

  it('are read no more after the stop, and then say that nothing is under way', async () => {
    const h = measured();
    h.client.hold();
    h.manager.setPodStatus(h.publish(testPod()), { message: 'one' });
    await h.calls();
    expect(metrics.collect().value('pod_status_manager_requests_in_flight')).toBe(1);
    const stopped = h.manager.stop({ drainTimeoutMs: 0 });
    h.client.release();
    await h.clock.advance(2_000);
    await stopped;
    expect([metrics.readers, metrics.value('pod_status_manager_requests_in_flight')]).toEqual([0, 0]);
    expect(h.clock.pendingTimers).toBe(0);
  });

  it('tell when the last request that was given up has settled after the stop', async () => {
    const h = measured();
    const answer = Promise.withResolvers<never>();
    h.client.patchPodStatus = () => answer.promise;
    h.manager.setPodStatus(h.publish(testPod()), { message: 'one' });
    await h.calls();
    const stopped = h.manager.stop({ drainTimeoutMs: 0 });
    await h.clock.advance(5_000);
    await stopped;
    expect(metrics.value('pod_status_manager_requests_in_flight')).toBe(1);
    answer.reject(new Error('late'));
    await h.calls();
    expect(metrics.value('pod_status_manager_requests_in_flight')).toBe(0);
  });

  it('are read every ten seconds for a sink that is not read from outside', async () => {
    metrics = new MetricsRecorder({ pulled: false });
    const h = new Harness({ metrics });
    await h.set(h.publish(testPod()), { message: 'one' });
    expect(metrics.value('pod_status_manager_pods', { phase: 'in-sync' })).toBeUndefined();
    await h.clock.advance(10_000);
    expect(metrics.nonZero('pod_status_manager_pods')).toEqual({ 'in-sync': 1 });
    await h.manager.stop();
    expect(h.clock.pendingTimers).toBe(0);
  });
});
