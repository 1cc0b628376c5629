import { describe, expect, it } from 'vitest';
import { deleting, Harness, numberedPod, testPod } from '../harness.ts';

const minute = 60_000;

/** A manager whose pod source last heard from the apiserver when `heardAt` says. */
function withSource(count: number, options = {}) {
  const source: { at: number | undefined } = { at: undefined };
  const h = new Harness({ podSource: { lastObservedAt: () => source.at }, ...options });
  source.at = h.clock.now();
  const pods = Array.from({ length: count }, (_, n) => h.publish(numberedPod(n)));
  for (const pod of pods) h.manager.setPodStatus(pod, { message: 'ours' });
  return { h, pods, source };
}

describe('a pod source that is silent', () => {
  it('costs nothing as long as it is heard of', async () => {
    const { h, source } = withSource(3);
    await h.calls();
    for (let tick = 0; tick < 60; tick += 1) {
      source.at = h.clock.now();
      expect(await h.batch()).toEqual([]);
    }
  });

  it('has its pods read again after five minutes, and what somebody changed is restored', async () => {
    const { h, pods } = withSource(3);
    await h.calls();
    const [pod] = pods;
    if (pod === undefined) throw new Error('no pod');
    h.rival(pod, { message: 'theirs' });
    await h.clock.advance(5 * minute);
    expect(await h.calls()).toEqual([]);
    expect((await h.batch()).sort()).toEqual(['get', 'get', 'get', 'patch']);
    expect(h.apiStatus(pod).message).toBe('ours');
  });

  it('counts from the start when it was never heard of', async () => {
    const { h, source } = withSource(1);
    source.at = undefined;
    await h.clock.advance(5 * minute);
    expect(await h.calls()).toEqual(['patch']);
    expect(await h.batch()).toEqual(['get']);
  });

  it('is noticed too when the clock was set back a day since it was last heard of', async () => {
    const { h } = withSource(1);
    await h.calls();
    h.clock.jump(-24 * 60 * minute);
    expect(await h.batch()).toEqual(['get']);
  });

  it('has a pod read again that finalizers hold', async () => {
    const { h } = withSource(0);
    h.safety.reclaimed = true;
    const metadata = {
      finalizers: ['example.com/hold'],
      deletionTimestamp: '1999-12-31T23:59:00Z',
      deletionGracePeriodSeconds: 30,
    };
    const pod = h.publish(testPod({ metadata }));
    h.manager.setPodStatus(pod, { phase: 'Failed', message: 'ours' });
    h.manager.terminatePod(pod);
    expect(await h.calls()).toEqual(['patch', 'delete']);
    h.rival(pod, { message: 'theirs' });
    await h.clock.advance(5 * minute);
    h.client.clearActions();
    expect(await h.batch()).toContain('get');
    expect(h.apiStatus(pod).message).toBe('ours');
  });

  it('has a bounded number of pods read in one batch, and each in its turn', async () => {
    const { h, pods } = withSource(120, { channelCapacity: 1000 });
    await h.clock.advance(5 * minute);
    await h.calls();
    const read = new Set<string>();
    for (const wanted of [50, 50, 50]) {
      await h.clock.advance(10_000);
      const names = h.client.actions.filter(({ verb }) => verb === 'get').map(({ name }) => name);
      expect(names).toHaveLength(wanted);
      for (const name of names) read.add(name);
      h.client.clearActions();
    }
    expect(read.size).toBe(pods.length);
  });

  it('has more read in one batch where fifty would not do in five minutes', async () => {
    const { h } = withSource(3_000, { channelCapacity: 5_000 });
    await h.clock.advance(5 * minute);
    await h.calls();
    await h.clock.advance(10_000);
    await h.clock.advance(100);
    expect(h.client.verbs().filter((verb) => verb === 'get')).toHaveLength(100);
  });

  it('is believed again as soon as it is heard of', async () => {
    const { h, source } = withSource(1, { staleAfterMs: 30_000 });
    await h.clock.advance(30_000);
    await h.calls();
    expect(await h.batch()).toEqual(['get']);
    source.at = h.clock.now();
    expect(await h.batch()).toEqual([]);
  });

  it('has a quarantined pod read again, which is tried again once somebody has changed it, and not before', async () => {
    const { h, pods } = withSource(1, { staleAfterMs: 15_000 });
    const [pod] = pods;
    if (pod === undefined) throw new Error('no pod');
    await h.calls();
    h.client.failNext('patch', { code: 422, times: 2 });
    await h.set(pod, { message: 'bad' });
    await h.clock.advance(15_000);
    h.client.clearActions();
    const failures = h.record('syncError');
    for (let tick = 0; tick < 4; tick += 1) expect(await h.batch()).toEqual(['get']);
    expect(h.manager.explain('uid-0')).toMatchObject({ phase: 'quarantined', failures: 1, lastError: { errorClass: 'invalid' } });
    expect(failures).toEqual([]);
    h.rival(pod, { message: 'theirs' });
    expect(await h.batch()).toEqual(['get', 'patch']);
    expect([h.apiStatus(pod).message, h.manager.explain('uid-0').phase]).toEqual(['bad', 'in-sync']);
  });

  it('has no second DELETE sent for a pod that finalizers hold and nobody changes', async () => {
    const { h } = withSource(0, { staleAfterMs: 15_000 });
    h.safety.reclaimed = true;
    const pod = h.publish(testPod({ metadata: { ...deleting, finalizers: ['example.com/hold'] } }));
    h.manager.setPodStatus(pod, { phase: 'Failed' });
    h.manager.terminatePod(pod);
    await h.clock.advance(20_000);
    expect(await h.calls()).toEqual(['patch', 'delete', 'get']);
    expect(await h.batch()).toEqual(['get']);
    expect(h.manager.explain('12345678').phase).toBe('deleting');
    h.client.hold('get');
    expect(await h.batch()).toEqual(['get']);
    h.manager.setPodStatus(h.api(pod), { phase: 'Failed', message: 'set while it is read' });
    h.client.release('get');
    expect((await h.calls())[0]).toBe('patch');
    expect(h.apiStatus(pod).message).toBe('set while it is read');
  });

  it('does not have a pod read that waits for something else', async () => {
    const { h, pods } = withSource(1, { staleAfterMs: 15_000 });
    const [pod] = pods;
    if (pod === undefined) throw new Error('no pod');
    await h.calls();
    h.client.failNext('patch', { code: 503, retryAfterMs: 60_000 });
    await h.set(pod, { message: 'later' });
    await h.clock.advance(15_000);
    expect(await h.calls()).toEqual([]);
    expect(h.manager.explain('uid-0').phase).toBe('backing-off');
    for (let tick = 0; tick < 4; tick += 1) expect(await h.batch()).toEqual([]);
  });

  it('notices a pod that is gone and one that was recreated', async () => {
    const { h, pods } = withSource(2, { staleAfterMs: 15_000 });
    await h.calls();
    h.client.store.remove('default', 'pod-0');
    h.client.store.put(testPod({ metadata: { uid: 'other', name: 'pod-1', namespace: 'default' } }));
    await h.clock.advance(20_000);
    expect(await h.calls()).toEqual(['get', 'get']);
    expect(pods.map((pod) => h.manager.explain(pod.metadata.uid).phase)).toEqual(['gone', 'unknown']);
  });
});
