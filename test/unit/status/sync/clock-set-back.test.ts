import { describe, expect, it } from 'vitest';
import { MetricsRecorder } from '../../../support/metrics-recorder.ts';
import { Harness, numberedPod, testPod } from '../status-harness.ts';

/** A manager whose pod source made its last full list at the start; the clock is then set back by an hour. */
async function afterClockWasSetBack() {
  let listedAt: number | undefined;
  const h = new Harness({ podSource: { lastObservedAt: () => undefined, lastListedAt: () => listedAt } });
  listedAt = h.clock.now();
  const pod = h.publish(testPod());
  await h.set(pod, { message: 'a' });
  h.observe(pod);
  h.clock.jump(-3_600_000);
  return { h, pod };
}

describe('a clock that is set back', () => {
  it('does not make an older copy of the watch count: a status that was there before is written again', async () => {
    const { h, pod } = await afterClockWasSetBack();
    expect(await h.set(pod, { message: 'b' })).toEqual(['patch']);
    expect(await h.set(pod, { message: 'a' })).toEqual(['patch']);
    expect(h.apiStatus(pod).message).toBe('a');
  });

  it('costs no conflict: each patch is made against the copy that the one before it left', async () => {
    const { h, pod } = await afterClockWasSetBack();
    for (const message of ['b', 'c', 'd']) expect(await h.set(pod, { message })).toEqual(['patch']);
  });
});

describe.each([-3_600_000, 3_600_000])('a wall clock that is set by %s ms', (ms) => {
  it('changes nothing of how long a change waits, in events and in metrics', async () => {
    const metrics = new MetricsRecorder();
    const h = new Harness({ metrics });
    const pod = h.publish(testPod());
    const synced = h.record('synced');
    h.client.hold('patch');
    h.manager.setPodStatus(pod, { message: 'a' });
    await h.clock.advance(2_000);
    h.clock.jump(ms);
    await h.clock.advance(1_000);
    h.manager.setPodStatus(pod, { message: 'b' });
    await h.clock.advance(1_000);
    expect(metrics.collect().value('pod_status_manager_oldest_unsent_change_age_seconds')).toBe(4);
    h.client.release('patch');
    await h.calls();
    expect(synced.at(-1)).toMatchObject({ version: 2, delayMs: 4_000 });
  });

  it('neither shortens nor lengthens the wait for a server that has asked for one', async () => {
    const h = new Harness({ concurrency: 1 });
    const pods = [h.publish(numberedPod(1)), h.publish(numberedPod(2))];
    h.client.failNext('patch', { code: 429, retryAfterMs: 10_000 });
    for (const pod of pods) h.manager.setPodStatus(pod, { message: 'm' });
    expect(await h.calls()).toEqual(['patch']);
    h.clock.jump(ms);
    await h.clock.advance(9_999);
    expect(await h.calls()).toEqual([]);
    await h.clock.advance(1);
    expect(await h.calls()).toEqual(['patch', 'patch']);
  });
});
