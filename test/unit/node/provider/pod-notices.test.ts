import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { PodNotices } from '../../../../src/node/provider/pod-notices.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';

function world() {
  const told: string[] = [];
  const clock = new FakeClock();
  return { told, clock, notices: new PodNotices((podUID) => told.push(podUID), clock) };
}

describe('PodNotices', () => {
  it('passes on a few notices at once, and later ones at most ten times a second for each pod', async () => {
    const { told, clock, notices } = world();
    notices.tell('a');
    notices.tell('b');
    expect(told).toEqual(['a', 'b']);
    for (let i = 0; i < 1000; i++) {
      notices.tell('a');
      await clock.advance(1);
    }
    const ofA = told.filter((podUID) => podUID === 'a').length;
    expect(ofA).toBeGreaterThan(10);
    expect(ofA).toBeLessThan(16);
    notices.forget('a');
    notices.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('brings no sync forward of a pod that could not be asked about, and wakes what waits for it', async () => {
    const { told, notices, clock } = world();
    notices.hold('a');
    const next = notices.wait('a', 60_000, new AbortController().signal);
    notices.tell('a');
    await next;
    expect(told).toEqual([]);
    notices.release('a');
    await clock.advance(100);
    notices.tell('a');
    expect(told).toEqual(['a']);
  });

  it('leave no timer and no listener behind, however a wait for them ends', async () => {
    const { told, notices, clock } = world();
    const controller = new AbortController();
    const { signal } = controller;
    const waits = ['told', 'woken', 'forgotten', 'late'].map((uid) => notices.wait(uid, 1000, signal));
    expect(clock.pendingTimers).toBe(4);
    notices.tell('told');
    notices.wake('woken');
    notices.forget('forgotten');
    await clock.advance(1000);
    await Promise.all(waits);
    expect([clock.pendingTimers, getEventListeners(signal, 'abort'), told]).toEqual([0, [], ['told']]);
    const aborted = notices.wait('aborted', 1000, signal);
    controller.abort();
    await aborted;
    expect(clock.pendingTimers).toBe(0);
  });
});
