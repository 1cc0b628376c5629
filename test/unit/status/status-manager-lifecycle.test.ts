import { describe, expect, it } from 'vitest';
import type { Logger } from '../../../src/base/logging/logger.ts';
import { BasicPodManager } from '../../../src/status/pods/basic-pod-manager.ts';
import { StatusManager } from '../../../src/status/status-manager.ts';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.ts';
import { Harness, numberedPod, settle, testPod } from './status-harness.ts';

const safety = { podCouldHaveRunningContainers: () => false, podResourcesAreReclaimed: () => false };

describe('StatusManager.start', () => {
  it('begins all work: before it there is no request and no timer', async () => {
    const h = new Harness({ started: false });
    h.manager.setPodStatus(h.publish(testPod()), { message: 'm' });
    await h.clock.advance(60_000);
    expect(h.client.actions).toEqual([]);
    expect(h.clock.pendingTimers).toBe(0);
    expect(h.manager.state).toBe('idle');
    expect(h.manager.explain('12345678').phase).toBe('not-started');
  });

  it('throws on the second call', () => {
    const h = new Harness();
    expect(h.manager.state).toBe('running');
    expect(() => h.manager.start()).toThrow(expect.objectContaining({ code: 'ERR_ALREADY_STARTED' }));
    expect(h.manager.state).toBe('running');
  });

  it('throws after stop', async () => {
    const h = new Harness();
    await h.manager.stop();
    expect(() => h.manager.start()).toThrow(expect.objectContaining({ code: 'ERR_STOPPED' }));
  });

  it('only logs without a pod client: the manager stays a cache', async () => {
    const clock = new FakeClock();
    const logged: string[] = [];
    const log = (_: object, message: string): void => void logged.push(message);
    const logger: Logger = { debug: log, info: log, warn: log, error: log };
    const podManager = new BasicPodManager();
    const manager = new StatusManager({ podClient: null, podManager, podDeletionSafety: safety, clock, logger });
    manager.start();
    expect(logged).toEqual(['no pod client: statuses are cached and nothing is sent']);
    expect(manager.state).toBe('idle');
    expect(manager.setPodStatus(testPod(), { message: 'm' })).toBe(true);
    expect(manager.getPodStatus('12345678')?.message).toBe('m');
    expect(manager.explain('12345678')).toMatchObject({ phase: 'cache-only', version: 1, acknowledgedVersion: 0 });
    manager.reconcile('12345678');
    manager.removeOrphanedStatuses(new Set());
    expect(manager.getPodStatus('12345678')).toBeUndefined();
    expect(clock.pendingTimers).toBe(0);
    await manager.stop();
    expect(manager.state).toBe('stopped');
  });
});

describe('a manager without a pod client', () => {
  it('keeps and counts no hints: nobody reads them', () => {
    const counted: string[] = [];
    const metrics = { increment: (name: string) => void counted.push(name), observe() {}, set() {} };
    const podManager = new BasicPodManager();
    const options = { podClient: null, podManager, podDeletionSafety: safety, channelCapacity: 2, logger: null, metrics };
    const manager = new StatusManager(options);
    for (let n = 0; n < 5; n += 1) manager.setPodStatus(numberedPod(n), { message: 'm' });
    expect(manager.snapshot().channel).toEqual({ depth: 0, capacity: 2, dropped: 0 });
    expect(counted).not.toContain('pod_status_manager_hints_dropped_total');
  });
});

describe('StatusManager.stop', () => {
  it('of a manager that never started says so of each pod', async () => {
    const h = new Harness({ started: false });
    h.manager.setPodStatus(h.publish(testPod()), { phase: 'Running' });
    const pods = [{ podUID: '12345678', podNamespace: 'new', podName: 'foo', phase: 'not-started', error: undefined }];
    expect(await h.manager.stop()).toEqual({ pods, underWay: [] });
  });

  it('drains, and leaves no timer and no request', async () => {
    const h = new Harness({ concurrency: 2 });
    const pods = [1, 2, 3, 4, 5].map((n) => h.publish(numberedPod(n)));
    for (const pod of pods) h.manager.setPodStatus(pod, { message: 'm' });
    const stopped = h.manager.stop();
    expect(h.manager.state).toBe('stopping');
    await stopped;
    expect(h.manager.state).toBe('stopped');
    expect(pods.map((pod) => h.apiStatus(pod).message)).toEqual(['m', 'm', 'm', 'm', 'm']);
    expect(h.clock.pendingTimers).toBe(0);
    expect(h.client.heldRequests).toBe(0);
  });

  it('drains for ten seconds by default, then aborts the requests in flight', async () => {
    const h = new Harness();
    h.client.hold();
    h.manager.setPodStatus(h.publish(testPod()), { message: 'm' });
    await settle();
    let stopped = false;
    const stopping = h.manager.stop().then(() => (stopped = true));
    await h.clock.advance(9_999);
    expect([stopped, h.client.heldRequests]).toEqual([false, 1]);
    await h.clock.advance(1);
    await stopping;
    expect(h.client.heldRequests).toBe(0);
    expect(h.clock.pendingTimers).toBe(0);
    expect(h.manager.state).toBe('stopped');
  });

  it('resolves only when the aborted request has settled', async () => {
    const h = new Harness({ client: { settleAbortsLate: true } });
    h.client.hold();
    h.manager.setPodStatus(h.publish(testPod()), { message: 'm' });
    await settle();
    let stopped = false;
    const stopping = h.manager.stop({ drainTimeoutMs: 0 }).then(() => (stopped = true));
    await h.clock.advance(999);
    expect([stopped, h.manager.state]).toEqual([false, 'stopping']);
    h.client.release();
    await stopping;
    expect([h.manager.state, h.clock.pendingTimers]).toEqual(['stopped', 0]);
    expect(h.client.actions).toHaveLength(1);
  });

  it('ends a second after the drain when the pod client ignores its signal, and names the pod', async () => {
    const h = new Harness({ client: { settleAbortsLate: true } });
    h.client.hold();
    h.manager.setPodStatus(h.publish(testPod()), { message: 'm' });
    await settle();
    let stopped = false;
    const stopping = h.manager.stop({ drainTimeoutMs: 5_000 });
    void stopping.then(() => (stopped = true));
    await h.clock.advance(5_999);
    expect([stopped, h.manager.state]).toEqual([false, 'stopping']);
    await h.clock.advance(1);
    expect(await stopping).toEqual({
      pods: [{ podUID: '12345678', podNamespace: 'new', podName: 'foo', phase: 'in-flight', error: undefined }],
      underWay: ['12345678'],
    });
    expect([h.manager.state, h.clock.pendingTimers]).toEqual(['stopped', 0]);
    h.client.release();
    await settle();
    expect(h.client.actions).toHaveLength(1);
  });

  it('aborts at once with drainTimeoutMs 0', async () => {
    const h = new Harness();
    h.client.hold();
    const [first, second] = [h.publish(numberedPod(1)), h.publish(numberedPod(2))];
    h.manager.setPodStatus(first, { message: 'm' });
    await settle();
    h.manager.setPodStatus(second, { message: 'm' });
    await h.manager.stop({ drainTimeoutMs: 0 });
    expect(h.client.actions.every(({ error }) => error === 0)).toBe(true);
    expect(h.clock.pendingTimers).toBe(0);
  });

  it('ends during a pause, a wait for a token, or a backoff', async () => {
    for (const failure of [{ code: 429, retryAfterMs: 3_600_000 }, { code: 500 }]) {
      const h = new Harness({ rateLimiter: { qps: 0.001, burst: 1 } });
      h.client.failNext('patch', failure);
      h.manager.setPodStatus(h.publish(testPod()), { message: 'm' });
      await settle();
      await h.manager.stop({ drainTimeoutMs: 0 });
      expect(h.clock.pendingTimers).toBe(0);
      expect(h.client.actions).toHaveLength(1);
    }
  });

  it('does not wait for a token for a request that will not be sent', async () => {
    const h = new Harness({ fetchBeforePatch: 'always', rateLimiter: { qps: 0.001, burst: 1 } });
    const pod = h.publish(testPod());
    h.client.getPod = (_namespace, _name, { signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(h.api(pod))));
    h.manager.setPodStatus(pod, { message: 'm' });
    await settle();
    h.manager.stop({ drainTimeoutMs: 0 }).catch(() => {});
    await settle();
    expect([h.manager.state, h.clock.pendingTimers, h.client.verbs()]).toEqual(['stopped', 0, []]);
  });

  it('returns the first call’s promise from every call', async () => {
    const { manager } = new Harness();
    const first = manager.stop();
    expect(manager.stop({ drainTimeoutMs: 5 })).toBe(first);
    await first;
    expect(manager.stop()).toBe(first);
  });

  it('works before start', async () => {
    const h = new Harness({ started: false });
    h.manager.setPodStatus(testPod(), { message: 'm' });
    await h.manager.stop();
    expect(h.manager.state).toBe('stopped');
    expect(h.client.actions).toEqual([]);
  });

  it('refuses every change from then on, and still answers', async () => {
    const h = new Harness();
    const pod = h.publish(testPod());
    h.manager.setPodStatus(pod, { message: 'm' });
    const stopping = h.manager.stop();
    const refused = (): void => {
      for (const operation of [
        () => h.manager.setPodStatus(pod, { message: 'late' }),
        () => h.manager.terminatePod(pod),
        () => h.manager.setContainerReadiness('12345678', 'a://b', true),
        () => h.manager.setContainerStartup('12345678', 'a://b', true),
        () => h.manager.removeOrphanedStatuses(new Set()),
        () => h.manager.reconcile('12345678'),
      ]) {
        expect(operation).toThrow(expect.objectContaining({ code: 'ERR_STOPPED' }));
      }
    };
    refused();
    await stopping;
    refused();
    expect(h.manager.getPodStatus('12345678')?.message).toBe('m');
    expect(h.manager.explain('12345678').phase).toBe('in-sync');
  });

  it('lets explain say of an unwritten status that nothing runs', async () => {
    const h = new Harness();
    h.client.hold();
    await h.set(h.publish(testPod()), { message: 'm' });
    await h.manager.stop({ drainTimeoutMs: 0 });
    expect(h.manager.explain('12345678')).toMatchObject({ phase: 'not-started', version: 1, acknowledgedVersion: 0 });
  });

  it('rejects a waiting flush', async () => {
    const h = new Harness();
    h.client.hold();
    h.manager.setPodStatus(h.publish(testPod()), { message: 'm' });
    const rejected = expect(h.manager.flush()).rejects.toMatchObject({ code: 'ERR_STOPPED' });
    await h.manager.stop({ drainTimeoutMs: 0 });
    await rejected;
    expect(h.clock.pendingTimers).toBe(0);
  });

  it('is called by await using', async () => {
    const h = new Harness();
    {
      await using manager = h.manager;
      manager.setPodStatus(h.publish(testPod()), { message: 'm' });
    }
    expect(h.manager.state).toBe('stopped');
    expect(h.client.verbs()).toEqual(['patch']);
  });

  it.each([-1, Number.NaN, 'soon'])('refuses drainTimeoutMs %s, and the manager keeps running', async (drainTimeoutMs) => {
    const { manager } = new Harness();
    await expect(manager.stop({ drainTimeoutMs: drainTimeoutMs as number })).rejects.toEqual(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', message: expect.stringContaining('drainTimeoutMs') }),
    );
    expect(manager.state).toBe('running');
  });
});
