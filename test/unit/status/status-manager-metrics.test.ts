import { describe, expect, it } from 'vitest';
import type { WirePodStatus } from '../../../src/api/json/types.ts';
import type { Labels, MetricsSink } from '../../../src/base/metrics/metrics.ts';
import { Harness, numberedPod, testPod } from './status-harness.ts';

class Recorder implements MetricsSink {
  readonly increments: [string, Labels | undefined][] = [];
  readonly observations: [string, number][] = [];
  increment(name: string, labels?: Labels, by = 1): void {
    if (by > 0) this.increments.push([name, labels]);
  }
  observe(name: string, value: number): void {
    this.observations.push([name, value]);
  }
  set(): void {}
  /** The increments of one counter, as label values joined by commas. */
  counted(name: string): string[] {
    return this.increments.filter(([counter]) => counter === name).map(([, labels]) => Object.values(labels ?? {}).join());
  }
  get terminations(): string[] {
    return this.counted('kubelet_terminated_containers_total');
  }
  get durations(): number[] {
    return this.observations.filter(([name]) => name === 'kubelet_pod_status_sync_duration_seconds').map(([, value]) => value);
  }
}

const containers = (...states: object[]): NonNullable<WirePodStatus['containerStatuses']> =>
  states.map((state, i) => ({ name: `c${i}`, image: '', imageID: '', ready: false, restartCount: 0, state }));
const ended = (exitCode: number, reason?: string): object => ({ terminated: { exitCode, ...(reason && { reason }) } });
const running = { running: {} };

function recorded(): { h: Harness; metrics: Recorder } {
  const metrics = new Recorder();
  return { h: new Harness({ metrics }), metrics };
}

describe('kubelet_terminated_containers_total', () => {
  it('counts a container that has ended once [T-SM-093]', async () => {
    const { h, metrics } = recorded();
    const pod = h.publish(testPod());
    await h.set(pod, { phase: 'Running', containerStatuses: containers(running) });
    expect(metrics.terminations).toEqual([]);
    await h.set(pod, { phase: 'Succeeded', containerStatuses: containers(ended(0, 'Completed')) });
    await h.set(pod, { phase: 'Succeeded', containerStatuses: containers(ended(0, 'Completed')), message: 'again' });
    expect(metrics.terminations).toEqual(['container,0,Completed']);
  });

  it('counts a container that has ended in the first status [T-SM-094]', async () => {
    const { h, metrics } = recorded();
    const pod = h.publish(numberedPod(2));
    await h.set(pod, { phase: 'Failed', containerStatuses: containers(ended(1, 'Error')) });
    expect(metrics.terminations).toEqual(['container,1,Error']);
  });

  it('does not count again, after a restart of the agent, what the apiserver already shows', async () => {
    const { h, metrics } = recorded();
    const status = { phase: 'Failed', containerStatuses: containers(ended(1, 'Error')) };
    await h.set(h.publish(testPod({ status })), status);
    expect(metrics.terminations).toEqual([]);
  });

  it('counts init and ephemeral containers under their own type, and containers that terminatePod ends', () => {
    const { h, metrics } = recorded();
    const pod = testPod({ spec: { containers: [], restartPolicy: 'Always' } });
    h.manager.setPodStatus(pod, {
      initContainerStatuses: containers(ended(0)),
      ephemeralContainerStatuses: containers(ended(2)),
    });
    h.manager.setPodStatus(pod, { containerStatuses: containers(running) });
    h.manager.terminatePod(pod);
    expect(metrics.terminations).toEqual(['init_container,0,', 'ephemeral_container,2,', 'container,137,ContainerStatusUnknown']);
  });

  it('counts nothing for a refused status', () => {
    const { h, metrics } = recorded();
    const pod = testPod({ spec: { containers: [{ name: 'c0' }], restartPolicy: 'Never' } });
    h.manager.setPodStatus(pod, { containerStatuses: containers(ended(0)) });
    h.manager.setPodStatus(pod, { containerStatuses: containers(running, ended(3)) });
    expect(metrics.terminations).toEqual(['container,0,']);
  });
});

describe('kubelet_pod_status_sync_duration_seconds', () => {
  it('is the time from the oldest unsent change to the answer', async () => {
    const { h, metrics } = recorded();
    const pod = h.publish(testPod());
    h.client.hold();
    h.manager.setPodStatus(pod, { message: 'one' });
    await h.clock.advance(1_500);
    h.manager.setPodStatus(pod, { message: 'two' });
    h.client.release();
    await h.calls();
    await h.clock.advance(60_000);
    await h.set(pod, { message: 'three' });
    expect(metrics.durations).toEqual([1.5, 1.5, 0]);
  });

  it('is never negative, even when the clock is set back', async () => {
    const { h, metrics } = recorded();
    const pod = h.publish(testPod());
    h.client.hold();
    h.manager.setPodStatus(pod, { message: 'one' });
    await h.calls();
    h.clock.jump(-3_600_000);
    h.client.release();
    await h.calls();
    expect(metrics.durations).toEqual([0]);
  });
});

describe('pod_status_manager_requests_total', () => {
  it('counts every request by verb and result', async () => {
    const { h, metrics } = recorded();
    const pod = h.publish(testPod());
    h.client.failNext('patch', { code: 409 });
    await h.set(pod, { message: 'one' });
    expect(metrics.counted('pod_status_manager_requests_total')).toEqual(['patch,conflict', 'get,ok', 'patch,ok']);
  });
});

describe('pod_status_manager_rate_limiter_wait_seconds', () => {
  it('is the time that a request waited for its token', async () => {
    const metrics = new Recorder();
    const h = new Harness({ metrics, fetchBeforePatch: 'always', rateLimiter: { qps: 0.5, burst: 1 } });
    h.manager.setPodStatus(h.publish(testPod()), { message: 'm' });
    await h.clock.advance(10_000);
    expect(h.client.verbs()).toEqual(['get', 'patch']);
    const waits = metrics.observations.filter(([name]) => name === 'pod_status_manager_rate_limiter_wait_seconds');
    expect(waits.map(([, seconds]) => seconds)).toEqual([2]);
  });
});
