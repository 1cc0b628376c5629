import { describe, expect, it } from 'vitest';
import { ShardTerm, sentNow } from '../../../../src/fleet/member/shard-term.ts';
import { ApiError } from '../../../../src/index.ts';
import { FakeClock } from '../../../../src/testing.ts';

function world() {
  const clock = new FakeClock();
  let refusals = 0;
  const refused = (): void => {
    refusals += 1;
  };
  const begin = (sent = sentNow(clock)): ShardTerm =>
    new ShardTerm({ shard: 7, leaseDurationMs: 15_000, renewDeadlineMs: 10_000, clock, refused }, sent);
  return { clock, begin, refusals: () => refusals };
}

describe('the term of a shard', () => {
  it('is over ten seconds after the request was sent that acquired the Lease, however late its answer came', async () => {
    const { clock, begin } = world();
    const sent = sentNow(clock);
    await clock.advance(4000);
    const term = begin(sent);
    expect([term.isOwned, term.deadlineMs, term.since]).toEqual([true, 10_000, clock.now()]);
    await clock.advance(5999);
    expect(term.isOwned).toBe(true);
    expect(() => term.requireOwned()).not.toThrow();
    await clock.advance(1);
    expect(term.isOwned).toBe(false);
  });

  it('refuses a write once it is over with the reason NotOwner, names the shard, and counts it', async () => {
    const { clock, begin, refusals } = world();
    const term = begin();
    term.requireOwned();
    expect(refusals()).toBe(0);
    await clock.advance(10_000);
    const thrown = (): unknown => {
      try {
        return term.requireOwned();
      } catch (error) {
        return error;
      }
    };
    const error = thrown() as ApiError;
    expect(error).toBeInstanceOf(ApiError);
    expect([error.reason, error.status]).toEqual(['NotOwner', undefined]);
    expect(error.message).toContain('shard 7');
    thrown();
    expect(refusals()).toBe(2);
  });

  it('goes on with each renewal, from the moment at which that was sent', async () => {
    const { clock, begin } = world();
    const term = begin();
    await clock.advance(5000);
    const sent = sentNow(clock);
    await clock.advance(3000);
    expect(term.renewed(sent)).toBe(true);
    expect(term.deadlineMs).toBe(15_000);
    await clock.advance(6999);
    expect(term.isOwned).toBe(true);
    await clock.advance(1);
    expect(term.isOwned).toBe(false);
  });

  it('is over where the answer to a renewal came so late that its time had passed', async () => {
    const { clock, begin } = world();
    const term = begin();
    const sent = sentNow(clock);
    await clock.advance(10_000);
    expect(term.renewed(sent)).toBe(false);
    expect(term.isOwned).toBe(false);
  });

  it('never begins again once it was ended', async () => {
    const { clock, begin } = world();
    const term = begin();
    term.end();
    expect(term.isOwned).toBe(false);
    expect(() => term.requireOwned()).toThrow('shard 7');
    await clock.advance(1000);
    expect(term.renewed(sentNow(clock))).toBe(false);
    expect(term.isOwned).toBe(false);
  });

  it('is over while the wall clock shows that the machine slept, and goes on with the next renewal', () => {
    const { clock, begin } = world();
    const term = begin();
    clock.jump(9999);
    expect(term.isOwned).toBe(true);
    clock.jump(1);
    expect(() => term.requireOwned()).toThrow('shard 7');
    expect(term.renewed(sentNow(clock))).toBe(true);
    expect(term.isOwned).toBe(true);
  });

  it('ends at its time by what has passed, also where the wall clock was set back', async () => {
    const { clock, begin } = world();
    const term = begin();
    clock.jump(-3_600_000);
    await clock.advance(9999);
    expect(term.isOwned).toBe(true);
    await clock.advance(1);
    expect(term.isOwned).toBe(false);
  });

  it('lets a write take until another member could own the shard, and never less than a millisecond', async () => {
    const { clock, begin } = world();
    const term = begin();
    expect(term.writeLimitMs()).toBe(15_000);
    await clock.advance(9999.5);
    expect(term.writeLimitMs()).toBe(5000);
    clock.jump(4000);
    expect(term.writeLimitMs()).toBe(1000);
    await clock.advance(60_000);
    expect(term.writeLimitMs()).toBe(1);
  });
});
