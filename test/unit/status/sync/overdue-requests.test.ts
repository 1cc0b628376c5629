import { describe, expect, it, vi } from 'vitest';
import type { PodClient } from '../../../../src/client/resources/kube-pod-client.ts';
import { Harness, numberedPod, settle } from '../status-harness.ts';

// A pod client that ignores its signal: its promise settles when the test lets it, or never.

interface Deaf {
  readonly h: Harness;
  /** Settles the hanging requests, with the server's answer or with an error. */
  readonly settleAll: (fails?: boolean) => Promise<void>;
  readonly hanging: () => number;
}

/** Makes the requests of these pods hang, even when they are aborted. */
function deafFor(names: readonly string[], options = {}): Deaf {
  const h = new Harness({ requestTimeoutMs: 1_000, ...options });
  const hanging: ((fails: boolean) => void)[] = [];
  for (const method of ['getPod', 'patchPodStatus', 'deletePod'] as const) {
    const send = h.client[method].bind(h.client) as PodClient['patchPodStatus'];
    const deaf: PodClient['patchPodStatus'] = async (namespace, name, body, limits) => {
      if (!names.includes(name)) return send(namespace, name, body, limits);
      const fails = await new Promise<boolean>((resolve) => hanging.push(resolve));
      if (fails) throw new Error('late');
      return send(namespace, name, body, { signal: new AbortController().signal });
    };
    Object.assign(h.client, { [method]: deaf });
  }
  const settleAll = async (fails = false): Promise<void> => {
    for (const end of hanging.splice(0)) end(fails);
    await settle();
  };
  return { h, settleAll, hanging: () => hanging.length };
}

const pods = (h: Harness, count: number) => Array.from({ length: count }, (_, n) => h.publish(numberedPod(n)));
const told = (h: Harness) => h.record('syncError');

describe('a request whose pod client ignores its signal', () => {
  it('counts as timed out, and a syncError is emitted', async () => {
    const { h } = deafFor(['pod-0']);
    const failures = told(h);
    const [pod] = pods(h, 1);
    h.manager.setPodStatus(pod ?? {}, { message: 'm' });
    await h.clock.advance(999);
    expect(failures).toEqual([]);
    await h.clock.advance(1);
    expect(failures).toMatchObject([{ podUID: 'uid-0', errorClass: 'timeout', attempt: 1, retryInMs: 500 }]);
    expect(h.manager.explain('uid-0')).toMatchObject({ phase: 'in-flight', lastError: { errorClass: 'timeout' } });
  });

  it('does not block the other pods, even when it had the only slot', async () => {
    const { h } = deafFor(['pod-0'], { concurrency: 1 });
    const all = pods(h, 4);
    for (const pod of all) h.manager.setPodStatus(pod, { message: 'm' });
    await h.clock.advance(1_000);
    expect(all.map((pod) => h.apiStatus(pod).message)).toEqual([undefined, 'm', 'm', 'm']);
  });

  it.each([true, false])('holds back every other write of its pod until it has settled (it then fails: %s)', async (fails) => {
    const { h, settleAll, hanging } = deafFor(['pod-0']);
    const [pod] = pods(h, 1);
    if (pod === undefined) throw new Error('no pod');
    h.manager.setPodStatus(pod, { message: 'one' });
    await h.clock.advance(1_000);
    h.manager.setPodStatus(pod, { message: 'two' });
    h.manager.reconcile('uid-0');
    await h.clock.advance(60_000);
    expect([hanging(), h.apiStatus(pod).message]).toEqual([1, undefined]);
    await settleAll(fails);
    for (let round = 0; round < 4; round++) await settleAll();
    expect([hanging(), h.apiStatus(pod).message, h.manager.explain('uid-0').phase]).toEqual([0, 'two', 'in-sync']);
  });

  it('is tried again after it has settled and its backoff is over', async () => {
    const { h, settleAll, hanging } = deafFor(['pod-0']);
    const [pod] = pods(h, 1);
    h.manager.setPodStatus(pod ?? {}, { message: 'one' });
    await h.clock.advance(1_000);
    await settleAll(true);
    expect([hanging(), h.manager.explain('uid-0').phase]).toEqual([0, 'backing-off']);
    await h.clock.advance(499);
    expect(hanging()).toBe(0);
    await h.clock.advance(1);
    expect(hanging()).toBe(1);
  });

  it('is tried again at once when its backoff has ended before it settled, though the clock was set back meanwhile', async () => {
    const { h, settleAll, hanging } = deafFor(['pod-0']);
    const [pod] = pods(h, 1);
    h.manager.setPodStatus(pod ?? {}, { message: 'one' });
    await h.clock.advance(5_000);
    h.clock.jump(-60_000);
    await settleAll(true);
    expect(hanging()).toBe(1);
  });

  it('is tried again at once when another pod has succeeded before it settled: the server answers again', async () => {
    const { h, settleAll, hanging } = deafFor(['pod-0'], { random: () => 1 });
    const [pod, other] = pods(h, 2);
    h.manager.setPodStatus(pod ?? {}, { message: 'one' });
    await h.clock.advance(1_000);
    await h.set(other ?? {}, { message: 'two' });
    await settleAll(true);
    expect(hanging()).toBe(1);
  });

  it('also holds back the pod’s next entry when the first was dropped', async () => {
    const { h, settleAll, hanging } = deafFor(['pod-0']);
    const [pod] = pods(h, 1);
    if (pod === undefined) throw new Error('no pod');
    h.manager.setPodStatus(pod, { message: 'old life' });
    await h.clock.advance(1_000);
    h.manager.removeOrphanedStatuses(new Set());
    h.manager.setPodStatus(pod, { message: 'new life' });
    await h.clock.advance(60_000);
    expect(hanging()).toBe(1);
    await settleAll(true);
    await settleAll();
    expect([h.apiStatus(pod).message, h.manager.explain('uid-0')]).toMatchObject(['new life', { phase: 'in-sync', version: 1 }]);
  });

  it('keeps a flush waiting, and the flush error names the pod and its error', async () => {
    const { h } = deafFor(['pod-0']);
    const [pod] = pods(h, 1);
    h.manager.setPodStatus(pod ?? {}, { message: 'm' });
    const flushed = expect(h.manager.flush({ timeoutMs: 5_000 })).rejects.toMatchObject({
      code: 'ERR_FLUSH_TIMEOUT',
      pods: [{ podUID: 'uid-0', phase: 'in-flight', error: { errorClass: 'timeout' } }],
    });
    await h.clock.advance(5_000);
    await flushed;
  });

  it('keeps the process alive until stop has resolved', async () => {
    const { h } = deafFor(['pod-0']);
    const [pod] = pods(h, 1);
    h.manager.setPodStatus(pod ?? {}, { message: 'm' });
    await h.clock.advance(1_000);
    const timers = vi.spyOn(h.clock, 'setTimer');
    const stopped = h.manager.stop({ drainTimeoutMs: 0 });
    await settle();
    expect(timers.mock.calls.map(([, delayMs, options]) => [delayMs, options?.keepAlive])).toEqual([[1_000, true]]);
    await h.clock.advance(1_000);
    expect(await stopped).toMatchObject({ underWay: ['uid-0'] });
  });

  it('does not block stop, which names the pod and sends nothing when the request settles later', async () => {
    const { h, settleAll } = deafFor(['pod-0']);
    const [pod] = pods(h, 1);
    h.manager.setPodStatus(pod ?? {}, { message: 'm' });
    await h.clock.advance(1_000);
    const stopped = h.manager.stop({ drainTimeoutMs: 500 });
    await h.clock.advance(1_500);
    expect(await stopped).toMatchObject({ pods: [{ podUID: 'uid-0', phase: 'in-flight' }], underWay: ['uid-0'] });
    expect(h.clock.pendingTimers).toBe(0);
    const told: string[] = [];
    for (const event of ['synced', 'syncError'] as const) h.manager.on(event, () => told.push(event));
    await settleAll(true);
    await h.clock.advance(60_000);
    expect([told, h.client.actions, h.clock.pendingTimers]).toEqual([[], [], 0]);
  });
});
