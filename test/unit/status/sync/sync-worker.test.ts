import { describe, expect, it } from 'vitest';
import { Harness, numberedPod, settle } from '../status-harness.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** `count` published pods, none of them sent yet. */
function withPods(count: number, options = {}) {
  const h = new Harness(options);
  return { h, pods: numbers(count).map((n) => h.publish(numberedPod(n))) };
}

/** Records at every request how many requests are in flight, in all and for that pod. */
function watchOverlap(h: Harness): { most: number; samePod: number } {
  const seen = { most: 0, samePod: 0 };
  const inFlight: string[] = [];
  for (const method of ['getPod', 'patchPodStatus', 'deletePod'] as const) {
    const send = h.client[method].bind(h.client) as (...args: unknown[]) => Promise<unknown>;
    const wrapped = async (namespace: string, name: string, ...rest: unknown[]): Promise<unknown> => {
      inFlight.push(name);
      seen.most = Math.max(seen.most, inFlight.length);
      seen.samePod = Math.max(seen.samePod, inFlight.filter((other) => other === name).length);
      try {
        return await send(namespace, name, ...rest);
      } finally {
        inFlight.splice(inFlight.indexOf(name), 1);
      }
    };
    Object.assign(h.client, { [method]: wrapped });
  }
  return seen;
}

describe('SyncWorker, one pod', () => {
  it('never has two writes of one pod in flight, and sends the newest version next', async () => {
    const { h, pods } = withPods(1);
    const [pod] = pods;
    if (pod === undefined) throw new Error('no pod');
    h.client.hold();
    h.manager.setPodStatus(pod, { message: 'first' });
    await settle();
    for (const message of ['second', 'third', 'fourth']) {
      h.manager.setPodStatus(pod, { message });
      await settle();
    }
    h.manager.reconcile('uid-0');
    await h.clock.advance(1_000);
    expect(h.client.heldRequests).toBe(1);
    h.client.release();
    await settle();
    const patches = h.client.actions.filter(({ verb }) => verb === 'patch');
    expect(patches.map(({ patch }) => (patch as { status: object }).status)).toMatchObject([
      { message: 'first' },
      { message: 'fourth' },
    ]);
    expect(h.apiStatus(pod).message).toBe('fourth');
  });

  it.each([1, 2, 5, 50])('writes a burst of %i changes in at most two requests', async (count) => {
    const { h, pods } = withPods(1);
    const [pod] = pods;
    if (pod === undefined) throw new Error('no pod');
    h.client.hold();
    for (const n of numbers(count)) {
      h.manager.setPodStatus(pod, { message: `m${n}` });
      if (n === 0) await settle();
    }
    h.client.release();
    expect(await h.calls()).toEqual(count === 1 ? ['patch'] : ['patch', 'patch']);
    expect(h.apiStatus(pod).message).toBe(`m${count - 1}`);
    expect(h.manager.explain('uid-0').phase).toBe('in-sync');
  });

  it('sends the version that is newest when the request goes out', async () => {
    const { h, pods } = withPods(3, { concurrency: 1 });
    h.client.hold();
    for (const pod of pods) h.manager.setPodStatus(pod, { message: 'early' });
    await settle();
    for (const pod of pods) h.manager.setPodStatus(pod, { message: 'late' });
    h.client.release();
    const calls = await h.calls();
    expect(calls).toHaveLength(4);
    expect(pods.map((pod) => h.apiStatus(pod).message)).toEqual(['late', 'late', 'late']);
  });

  it('counts an aborted request as in flight until it has settled', async () => {
    const { h, pods } = withPods(1, { client: { settleAbortsLate: true }, requestTimeoutMs: 1_000 });
    const [pod] = pods;
    if (pod === undefined) throw new Error('no pod');
    const overlap = watchOverlap(h);
    h.client.hold();
    h.manager.setPodStatus(pod, { message: 'first' });
    await h.clock.advance(1_000);
    h.manager.setPodStatus(pod, { message: 'second' });
    await h.clock.advance(25_000);
    expect(h.client.actions).toHaveLength(1);
    expect(h.manager.explain('uid-0').phase).toBe('in-flight');
    h.client.release();
    await h.clock.advance(1_000);
    expect(h.client.actions.map(({ verb, error }) => [verb, error])).toEqual([
      ['patch', 0],
      ['patch', undefined],
    ]);
    expect(h.apiStatus(pod).message).toBe('second');
    expect(overlap.samePod).toBe(1);
  });

  it('looks once more after a sync during which reconcile was called', async () => {
    const { h, pods } = withPods(1, { fetchBeforePatch: 'always' });
    const [pod] = pods;
    if (pod === undefined) throw new Error('no pod');
    h.client.hold('patch');
    h.manager.setPodStatus(pod, { message: 'm' });
    await settle();
    h.manager.reconcile('uid-0');
    h.client.release();
    expect(await h.calls()).toEqual(['get', 'patch', 'get']);
    expect(await h.calls()).toEqual([]);
  });

  it('ignores an answer for an entry that was dropped meanwhile', async () => {
    const { h, pods } = withPods(1);
    const [pod] = pods;
    if (pod === undefined) throw new Error('no pod');
    const synced = h.record('synced');
    h.client.hold();
    h.manager.setPodStatus(pod, { message: 'old life' });
    await settle();
    h.manager.removeOrphanedStatuses(new Set());
    h.manager.setPodStatus(pod, { message: 'new life' });
    await settle();
    expect(h.client.heldRequests).toBe(1);
    h.client.release();
    await h.calls();
    expect(h.apiStatus(pod).message).toBe('new life');
    expect(synced).toMatchObject([{ version: 1 }]);
    expect(h.manager.explain('uid-0')).toMatchObject({ phase: 'in-sync', version: 1, acknowledgedVersion: 1 });
  });

  it.each([
    ['was gone', { code: 404 }],
    ['had failed on the server', { code: 500 }],
    ['was refused', { code: 422, times: 2 }],
  ])('sends a new entry at once, even when the dropped one %s', async (_, failure) => {
    const { h, pods } = withPods(1);
    const [pod] = pods;
    if (pod === undefined) throw new Error('no pod');
    const failures = h.record('syncError');
    h.client.hold('patch');
    h.manager.setPodStatus(pod, { message: 'old life' });
    await settle();
    h.manager.removeOrphanedStatuses(new Set());
    h.manager.setPodStatus(pod, { message: 'new life' });
    h.client.failNext('patch', failure);
    h.client.release();
    await h.calls();
    expect(h.apiStatus(pod).message).toBe('new life');
    expect([failures, h.manager.explain('uid-0').phase]).toEqual([[], 'in-sync']);
  });
});

describe('SyncWorker, many pods', () => {
  it.each([1, 3, 16])('sends at most %i pods at once', async (concurrency) => {
    const { h, pods } = withPods(40, { concurrency });
    const overlap = watchOverlap(h);
    h.client.hold();
    for (const pod of pods) h.manager.setPodStatus(pod, { message: 'm' });
    await settle();
    expect(h.client.heldRequests).toBe(concurrency);
    h.client.release();
    await settle(60);
    expect(pods.filter((pod) => h.apiStatus(pod).message !== 'm')).toEqual([]);
    expect(overlap).toEqual({ most: concurrency, samePod: 1 });
  });

  it('sends urgent changes first, and the others in order', async () => {
    const { h, pods } = withPods(6, { concurrency: 1 });
    h.client.hold();
    const [first, a, b, ready, ended, finished] = pods;
    if (!(first && a && b && ready && ended && finished)) throw new Error('too few pods');
    for (const pod of [first, a, b]) h.manager.setPodStatus(pod, { phase: 'Pending' });
    await settle();
    h.manager.setPodStatus(ready, { conditions: [{ type: 'Ready', status: 'True' }] });
    h.manager.setPodStatus(ended, { phase: 'Succeeded' });
    h.manager.terminatePod(finished);
    await settle();
    h.client.release();
    await settle(10);
    expect(h.client.actions.map(({ name }) => name)).toEqual(['pod-0', 'pod-3', 'pod-4', 'pod-5', 'pod-1', 'pod-2']);
  });

  it('counts the loss of Ready as urgent, and not an unchanged Ready', async () => {
    const { h, pods } = withPods(4, { concurrency: 1 });
    const [first, a, b] = pods;
    if (!(first && a && b)) throw new Error('too few pods');
    const ready = (status: string, message: string) => ({ message, conditions: [{ type: 'Ready', status }] });
    for (const pod of [a, b]) await h.set(pod, ready('True', 'before'));
    h.client.hold();
    h.manager.setPodStatus(first, { phase: 'Pending' });
    await settle();
    h.manager.setPodStatus(a, ready('True', 'after'));
    h.manager.setPodStatus(b, ready('False', 'after'));
    await settle();
    h.client.release();
    await settle(10);
    expect(h.client.actions.map(({ name }) => name)).toEqual(['pod-0', 'pod-2', 'pod-1']);
  });

  it('writes everything at once even with a channel of capacity 0', async () => {
    const { h, pods } = withPods(20, { channelCapacity: 0, concurrency: 4 });
    for (const pod of pods) h.manager.setPodStatus(pod, { message: 'm' });
    await settle(20);
    expect(h.client.verbs()).toEqual(numbers(20).map(() => 'patch'));
    expect(pods.every((pod) => h.apiStatus(pod).message === 'm')).toBe(true);
  });

  it('writes everything at once even when the channel is full for most hints', async () => {
    const { h, pods } = withPods(50, { channelCapacity: 3 });
    for (const pod of pods) h.manager.setPodStatus(pod, { message: 'm' });
    await settle(20);
    expect(h.client.verbs()).toHaveLength(50);
    expect(pods.every((pod) => h.apiStatus(pod).message === 'm')).toBe(true);
  });

  it('writes at the next batch what it has no hint of', async () => {
    const h = new Harness({ started: false, subscribed: false });
    const pods = numbers(5).map((n) => h.publish(numberedPod(n)));
    h.manager.start();
    await settle();
    for (const pod of pods) h.manager.setPodStatus(pod, { message: 'm' });
    // after a 404 nothing is queued: only a changed API copy at the batch brings the pods back
    for (const pod of pods) h.client.store.remove('default', pod.metadata.name);
    expect(await h.calls()).toEqual(numbers(5).flatMap(() => ['patch']));
    for (const pod of pods) h.publish(pod);
    expect(await h.calls()).toEqual([]);
    expect(await h.batch()).toEqual(numbers(5).map(() => 'patch'));
    expect(pods.every((pod) => h.apiStatus(pod).message === 'm')).toBe(true);
  });

  it('sends statuses that were set before start', async () => {
    const { h, pods } = withPods(3, { started: false });
    for (const pod of pods) h.manager.setPodStatus(pod, { message: 'm' });
    await settle();
    expect(h.client.actions).toEqual([]);
    h.manager.start();
    expect(await h.calls()).toHaveLength(3);
  });

  it('gives a token of the rate limit to the next pod when the first one needs no request', async () => {
    const { h, pods } = withPods(2, { rateLimiter: { qps: 0.001, burst: 1 } });
    const [settled, other] = pods;
    if (!(settled && other)) throw new Error('too few pods');
    const status = { message: 'm', startTime: '2026-01-01T00:00:00Z' };
    h.podManager.updatePod(h.client.store.put({ ...settled, status }));
    expect(await h.set(settled, status)).toEqual([]);
    expect(h.manager.explain('uid-0').phase).toBe('in-sync');
    expect(await h.set(other, { message: 'm' })).toEqual(['patch']);
  });

  it('keeps the rate limit', async () => {
    const { h, pods } = withPods(30, { rateLimiter: { qps: 10, burst: 5 } });
    for (const pod of pods) h.manager.setPodStatus(pod, { message: 'm' });
    expect(await h.calls()).toHaveLength(5);
    await h.clock.advance(1_000);
    expect(await h.calls()).toHaveLength(10);
    await h.clock.advance(1_500);
    expect(await h.calls()).toHaveLength(15);
    expect(pods.every((pod) => h.apiStatus(pod).message === 'm')).toBe(true);
  });

  it('runs a batch every syncPeriodMs', async () => {
    const { h, pods } = withPods(1, { syncPeriodMs: 500, subscribed: false });
    const [pod] = pods;
    if (pod === undefined) throw new Error('no pod');
    await h.set(pod, { message: 'ours' });
    h.rival(pod, { message: 'theirs' });
    h.observe(pod);
    await h.clock.advance(499);
    expect(await h.calls()).toEqual([]);
    await h.clock.advance(1);
    expect(await h.calls()).toEqual(['patch']);
  });
});
