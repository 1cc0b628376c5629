import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Clock } from '../../../../src/base/clock.ts';
import { WakeableWait } from '../../../../src/base/concurrency/timers.ts';
import { silentLogger } from '../../../../src/base/logging/logger.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';

afterEach(() => {
  vi.useRealTimers();
});

async function isOver(wait: Promise<void>): Promise<boolean> {
  let over = false;
  void wait.then(() => {
    over = true;
  });
  await settle();
  return over;
}

describe('a wait', () => {
  it('ends after its time, when it is woken, and at once when it was woken before', async () => {
    const clock = new FakeClock();
    const wait = new WakeableWait({ clock });
    const first = wait.wait(1000);
    expect(await isOver(first)).toBe(false);
    await clock.advance(1000);
    expect(await isOver(first)).toBe(true);
    const second = wait.wait(1000);
    wait.wake();
    expect(await isOver(second)).toBe(true);
    expect(clock.pendingTimers).toBe(0);
    wait.wake();
    expect(await isOver(wait.wait(1000))).toBe(true);
    const third = wait.wait(1000);
    expect(await isOver(third)).toBe(false);
    wait.close();
    expect(await isOver(third)).toBe(true);
    expect(await isOver(wait.wait(1000))).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is counted by the machine where the clock sets no timer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const setTimer = (): never => {
      throw new Error('no timer');
    };
    const wait = new WakeableWait({ clock: { now: () => 0, setTimer }, logger: silentLogger });
    const first = wait.wait(1000);
    vi.advanceTimersByTime(999);
    expect(await isOver(first)).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await isOver(first)).toBe(true);
    void wait.wait(1000);
    wait.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends when its signal aborts, and leaves no listener', async () => {
    const clock = new FakeClock();
    const wait = new WakeableWait({ clock });
    const controller = new AbortController();
    const first = wait.wait(1000, controller.signal);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
    wait.wake();
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    expect(await isOver(first)).toBe(true);
    const second = wait.wait(1000, controller.signal);
    expect(await isOver(second)).toBe(false);
    controller.abort();
    expect(await isOver(second)).toBe(true);
    expect(await isOver(wait.wait(1000, controller.signal))).toBe(true);
    expect(await isOver(wait.wait(1000))).toBe(false);
    expect(clock.pendingTimers).toBe(1);
  });

  it.each([undefined, false, true])('keeps the process alive only where it is to: %s', (keepAlive) => {
    const asked: unknown[] = [];
    const setTimer: Clock['setTimer'] = (_, delayMs, options) => {
      asked.push(delayMs, options?.keepAlive === true);
      return () => {};
    };
    void new WakeableWait({ clock: { now: () => 0, setTimer }, ...(keepAlive !== undefined && { keepAlive }) }).wait(5);
    expect(asked).toEqual([5, keepAlive === true]);
  });
});
