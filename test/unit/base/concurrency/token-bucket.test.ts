import { describe, expect, it } from 'vitest';
import { TokenBucket } from '../../../../src/base/concurrency/rate-limiter.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';

/** Three tokens at most, and two more in a second. */
function setUp() {
  const clock = new FakeClock();
  const bucket = new TokenBucket({ burst: 3, tokens: 2, perMs: 1000 }, clock);
  const takeAll = (): number => {
    let taken = 0;
    while (taken < 100 && bucket.tryTake()) taken += 1;
    return taken;
  };
  return { clock, bucket, takeAll };
}

describe('a token bucket', () => {
  it('is full at first, and fills again with time, but never above its burst', async () => {
    const { clock, takeAll } = setUp();
    expect(takeAll()).toBe(3);
    await clock.advance(499);
    expect(takeAll()).toBe(0);
    await clock.advance(1);
    expect(takeAll()).toBe(1);
    await clock.advance(1000);
    expect(takeAll()).toBe(2);
    await clock.advance(3_600_000);
    expect(takeAll()).toBe(3);
  });

  it('says how long it is until the next token', async () => {
    const { clock, bucket, takeAll } = setUp();
    expect(bucket.waitMs).toBe(0);
    takeAll();
    expect(bucket.waitMs).toBe(500);
    await clock.advance(200);
    expect(bucket.waitMs).toBe(300);
    await clock.advance(300);
    expect([bucket.waitMs, takeAll()]).toEqual([0, 1]);
  });

  it('owes nothing when more is taken than there is', async () => {
    const { clock, bucket, takeAll } = setUp();
    bucket.take();
    expect(takeAll()).toBe(2);
    await clock.advance(250);
    bucket.take();
    expect(bucket.waitMs).toBe(500);
  });

  it('gets tokens back, up to its burst', () => {
    const { bucket, takeAll } = setUp();
    bucket.putBack();
    expect(takeAll()).toBe(3);
    bucket.putBack();
    expect(takeAll()).toBe(1);
  });
});
