import { describe, expect, it } from 'vitest';
import { deleting, Harness, numberedPod, testPod } from '../status-harness.ts';

const minute = 60_000;

/** A manager whose pod source last heard from the apiserver at `source.at`. */
function withSource(count: number, options = {}) {
  const source: { at: number | undefined } = { at: undefined };
  const h = new Harness({ podSource: { lastObservedAt: () => source.at }, ...options });
  source.at = h.clock.now();
  const pods = Array.from({ length: count }, (_, n) => h.publish(numberedPod(n)));
  for (const pod of pods) h.manager.setPodStatus(pod, { message: 'ours' });
  return { h, pods, source };
}

describe('a silent pod source', () => {
  it('causes no request while it still hears from the apiserver', async () => {
    const { h, source } = withSource(3);
    await h.calls();
    for (let tick = 0; tick < 60; tick += 1) {
      source.at = h.clock.now();
      expect(await h.batch()).toEqual([]);
    }
  });

  it('makes the manager read its pods after five minutes, and repair foreign changes', async () => {
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

  it('counts as silent from the start when it has never heard from the apiserver', async () => {
    const { h, source } = withSource(1);
    source.at = undefined;
    await h.clock.advance(5 * minute);
    expect(await h.calls()).toEqual(['patch']);
    expect(await h.batch()).toEqual(['get']);
  });

  it.each([
    -24 * 60 * minute,
    24 * 60 * minute,
  ])('is noticed after five minutes, also when the clock was set by %s ms', async (ms) => {
    const { h } = withSource(1);
    await h.clock.advance(10_000);
    await h.calls();
    h.clock.jump(ms);
    await h.clock.advance(4 * minute + 50_000);
    expect(await h.calls()).toEqual([]);
    expect(await h.batch()).toEqual(['get']);
  });

  it('is noticed five minutes after the first look where the clock was set back before that', async () => {
    const { h } = withSource(1);
    await h.calls();
    h.clock.jump(-24 * 60 * minute);
    await h.clock.advance(5 * minute + 10_000);
    expect(await h.calls()).toEqual([]);
    expect(await h.batch()).toEqual(['get']);
  });

  it.each([-24 * 60 * minute, 24 * 60 * minute])('is none that goes on hearing after the clock was set by %s ms', async (ms) => {
    const { h, source } = withSource(1);
    await h.calls();
    h.clock.jump(ms);
    for (let tick = 0; tick < 60; tick += 1) {
      source.at = h.clock.now();
      expect(await h.batch()).toEqual([]);
    }
  });

  it('makes the manager read a pod held by finalizers', async () => {
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

  it('makes the manager read a bounded number of pods in one batch, each pod in turn', async () => {
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

  it('makes the manager read more than fifty pods in one batch when it has too many for five minutes', async () => {
    const { h } = withSource(3_000, { channelCapacity: 5_000 });
    await h.clock.advance(5 * minute);
    await h.calls();
    await h.clock.advance(10_000);
    await h.clock.advance(100);
    expect(h.client.verbs().filter((verb) => verb === 'get')).toHaveLength(100);
  });

  it('is trusted again as soon as it hears from the apiserver', async () => {
    const { h, source } = withSource(1, { staleAfterMs: 30_000 });
    await h.clock.advance(30_000);
    await h.calls();
    expect(await h.batch()).toEqual(['get']);
    source.at = h.clock.now();
    expect(await h.batch()).toEqual([]);
  });

  it('makes the manager read a quarantined pod, and send it again only after a foreign change', async () => {
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
    expect(h.manager.explain('uid-0')).toMatchObject({ phase: 'quarantined', attempt: 1, lastError: { errorClass: 'invalid' } });
    expect(failures).toEqual([]);
    h.rival(pod, { message: 'theirs' });
    expect(await h.batch()).toEqual(['get', 'patch']);
    expect([h.apiStatus(pod).message, h.manager.explain('uid-0').phase]).toEqual(['bad', 'in-sync']);
  });

  it('causes no second DELETE for an unchanged pod held by finalizers', async () => {
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

  it('causes no GET of a pod that is backing off', async () => {
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

  it('makes the manager notice a pod that is gone and one that was recreated', async () => {
    const { h, pods } = withSource(2, { staleAfterMs: 15_000 });
    await h.calls();
    h.client.store.remove('default', 'pod-0');
    h.client.store.put(testPod({ metadata: { uid: 'other', name: 'pod-1', namespace: 'default' } }));
    await h.clock.advance(20_000);
    expect(await h.calls()).toEqual(['get', 'get']);
    expect(pods.map((pod) => h.manager.explain(pod.metadata.uid).phase)).toEqual(['gone', 'gone']);
  });
});
