import { describe, expect, it } from 'vitest';
import { Harness, testPod } from '../harness.ts';

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
