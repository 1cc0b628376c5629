import { describe, expect, it } from 'vitest';
import { RateLimiter } from '../../../../src/base/concurrency/rate-limiter.ts';
import { FakeClock, settle } from '../../../../src/testing/fakes/fake-clock.ts';

function limiter(qps: number, burst: number) {
  const clock = new FakeClock();
  const seen = { available: 0 };
  const subject = new RateLimiter({ qps, burst }, clock, () => {
    seen.available += 1;
  });
  return { clock, seen, subject };
}
const tryMany = (subject: RateLimiter, count: number): number =>
  Array.from({ length: count }, () => subject.tryTake()).filter(Boolean).length;

describe('RateLimiter', () => {
  it('gives the tokens of a burst at once, and no more', () => {
    const { subject } = limiter(10, 5);
    expect(tryMany(subject, 8)).toBe(5);
  });

  it('gives a token every 1/qps seconds, and calls onAvailable after a failed tryTake', async () => {
    const { clock, seen, subject } = limiter(10, 1);
    expect([subject.tryTake(), subject.tryTake()]).toEqual([true, false]);
    await clock.advance(99);
    expect([seen.available, subject.tryTake()]).toEqual([0, false]);
    await clock.advance(1);
    expect([seen.available, subject.tryTake()]).toEqual([1, true]);
  });

  it('saves up no more than a burst', async () => {
    const { clock, subject } = limiter(10, 3);
    tryMany(subject, 3);
    await clock.advance(3_600_000);
    expect(tryMany(subject, 9)).toBe(3);
  });

  it('keeps its rate in the long run', async () => {
    const { clock, subject } = limiter(7, 4);
    let taken = 0;
    for (let ms = 0; ms < 10_000; ms += 100) {
      taken += tryMany(subject, 5);
      await clock.advance(100);
    }
    expect(taken).toBe(4 + 69);
  });

  it('serves waiting takers in order, and before any tryTake', async () => {
    const { clock, seen, subject } = limiter(10, 1);
    subject.tryTake();
    const served: number[] = [];
    for (const n of [1, 2]) void subject.take().then(() => served.push(n));
    await clock.advance(100);
    expect(served).toEqual([1]);
    expect(seen.available).toBe(0);
    expect(subject.tryTake()).toBe(false);
    await clock.advance(100);
    expect(served).toEqual([1, 2]);
    expect(seen.available).toBe(1);
  });

  it('keeps a new token for a waiting taker, even before the timer has fired', async () => {
    const { clock, subject } = limiter(10, 1);
    subject.tryTake();
    let served = false;
    void subject.take().then(() => {
      served = true;
    });
    clock.jump(60_000);
    expect(subject.tryTake()).toBe(false);
    await clock.advance(100);
    expect(served).toBe(true);
  });

  it('does not make the first taker wait', async () => {
    const { subject } = limiter(1, 1);
    await expect(subject.take()).resolves.toBeUndefined();
  });

  it('gives a token that was put back to the first waiting taker', async () => {
    const { clock, subject } = limiter(0.001, 1);
    subject.tryTake();
    let served = false;
    void subject.take().then(() => {
      served = true;
    });
    subject.putBack();
    await settle();
    expect(served).toBe(true);
    expect(subject.tryTake()).toBe(false);
    await clock.advance(1_000_000);
    subject.putBack();
    subject.putBack();
    expect(tryMany(subject, 3)).toBe(1);
  });

  it('ends every wait when it is released, and leaves no timer', async () => {
    const { clock, subject } = limiter(0.001, 1);
    subject.tryTake();
    const waits = [subject.take(), subject.take()];
    expect(clock.pendingTimers).toBe(1);
    subject.release();
    await Promise.all(waits);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([-3_600_000, 3_600_000])('neither adds nor removes tokens when the wall clock is set by %s ms', async (ms) => {
    const { clock, subject } = limiter(10, 2);
    subject.tryTake();
    clock.jump(ms);
    expect([subject.tryTake(), subject.tryTake()]).toEqual([true, false]);
    await clock.advance(99);
    clock.jump(-ms);
    expect(subject.tryTake()).toBe(false);
    await clock.advance(1);
    expect(subject.tryTake()).toBe(true);
  });
});
