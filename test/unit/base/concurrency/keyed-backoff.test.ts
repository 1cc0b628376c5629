import { describe, expect, it } from 'vitest';
import { KeyedBackoff } from '../../../../src/base/concurrency/backoff.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';

describe('a keyed backoff', () => {
  it('counts each key by itself, and forgets a key that is reset', () => {
    const clock = new FakeClock();
    const counter = new KeyedBackoff({ firstMs: 1000, longestMs: 4000, resetAfterMs: 8000, clock });
    const event = { id: 'exit', at: clock.now() };
    for (let i = 0; i < 4; i++) counter.next('a', event);
    counter.next('b', event);
    expect([counter.waitMs('a'), counter.waitMs('b'), counter.waitMs('c'), counter.size]).toEqual([4000, 1000, 0, 2]);
    counter.reset('a');
    expect([counter.waitMs('a'), counter.remainingMs('a', event), counter.size]).toEqual([0, 0, 1]);
  });

  it('waits from the event, not from the count, and no longer after a reset time', async () => {
    const clock = new FakeClock();
    const counter = new KeyedBackoff({ firstMs: 1000, longestMs: 4000, resetAfterMs: 8000, clock });
    counter.next('a', { id: 'first', at: clock.now() });
    await clock.advance(500);
    const event = { id: 'second', at: clock.now() };
    await clock.advance(400);
    expect(counter.remainingMs('a', event)).toBe(600);
    await clock.advance(599);
    expect(counter.remainingMs('a', event)).toBe(1);
    await clock.advance(1);
    expect(counter.remainingMs('a', event)).toBe(0);
    await clock.advance(7000);
    expect(counter.remainingMs('a', { id: 'third', at: clock.now() })).toBe(0);
  });

  it('begins anew when the event comes late after the last count', async () => {
    const clock = new FakeClock();
    const backoff = new KeyedBackoff({ firstMs: 1000, resetAfterMs: 8000, clock });
    const count = (): number => {
      backoff.next('a', { id: `exit at ${clock.now()}`, at: clock.now() });
      return backoff.waitMs('a');
    };
    expect([count(), count()]).toEqual([1000, 2000]);
    await clock.advance(8000);
    expect(count()).toBe(4000);
    await clock.advance(8001);
    expect([count(), count()]).toEqual([1000, 2000]);
  });
});
