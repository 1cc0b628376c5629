import { describe, expect, it } from 'vitest';
import { SearchAccounts } from '../../../../../src/scheduler/plugins/devices/search-accounts.ts';

const pod = { namespace: 'd', uid: 'u-p' };
const other = { namespace: 'd', uid: 'u-q' };

/** Searches whose looks take as long as it is said. */
function searchWorld() {
  let nowMs = 0;
  const clock = { elapsed: () => nowMs };
  const accounts = new SearchAccounts(clock);
  const later = (ms: number): void => {
    nowMs += ms;
  };
  const search = (who = pod) => {
    const time = accounts.search(who);
    /** Looks so often, each time for so long or for as long as it may; returns the time that it took. */
    const look = (wantedMs: number, times = 1): number => {
      const before = nowMs;
      for (let i = 0; i < times; i++) {
        const mostMs = time.begin();
        const startedAt = nowMs;
        later(Math.min(wantedMs, mostMs));
        time.end(startedAt);
        if (mostMs > wantedMs) continue;
        time.breakOff();
        break;
      }
      return nowMs - before;
    };
    return { look, time };
  };
  return { accounts, search, later };
}

describe('the time for searches', () => {
  it('is enough for one pod after the other whose looks at nodes are short, however many there are', () => {
    const { accounts, search } = searchWorld();
    for (let i = 0; i < 100; i++) expect(search().look(0.4, 5000)).toBeCloseTo(2000);
    expect([accounts.levelMs('d'), accounts.waitMs(pod)]).toEqual([1000, 0]);
  });

  it('ends after a second beyond that, for all nodes together', () => {
    const { search } = searchWorld();
    expect(search().look(Number.POSITIVE_INFINITY)).toBeCloseTo(1050.5);
    const { search: another } = searchWorld();
    const tookMs = another().look(100, 100);
    expect(tookMs).toBeGreaterThan(1050);
    expect(tookMs).toBeLessThan(1200);
  });

  it('comes back slowly, to a pod that has used it up and to none of another namespace', () => {
    const { accounts, search, later } = searchWorld();
    search().look(Number.POSITIVE_INFINITY);
    expect(accounts.waitMs(other)).toBe(0);
    expect(accounts.waitMs({ namespace: 'other', uid: 'u-o' })).toBe(0);
    const waitMs = accounts.waitMs(pod);
    expect(waitMs).toBeGreaterThan(500);
    later(waitMs);
    expect(accounts.waitMs(pod)).toBe(0);
    later(10_000);
    expect(accounts.levelMs('d')).toBe(1000);
  });

  it('is a tenth of all time at most for a namespace whose pods use up all they can, once the first seconds are over', () => {
    const { accounts, search, later } = searchWorld();
    let tookMs = 0;
    let passedMs = 0;
    for (let i = 0; passedMs < 3_600_000; i++) {
      const flood = { namespace: 'd', uid: `u-${i}` };
      const ms = accounts.waitMs(flood) > 0 ? 0 : search(flood).look(Number.POSITIVE_INFINITY);
      tookMs += ms;
      passedMs += ms + 5;
      later(5);
    }
    expect(tookMs).toBeLessThan(3_600_000 * 0.1 + 12_500);
    expect(tookMs).toBeGreaterThan(300_000);
  });

  it('counts what took long of a search that ended by itself, and nothing else of it', () => {
    const { accounts, search } = searchWorld();
    search().look(600);
    expect(accounts.levelMs('d')).toBeCloseTo(1000 - 549.5);
    expect(accounts.waitMs(pod)).toBe(0);
  });

  it('is not used up for long by a machine that stood still', () => {
    const { accounts, search, later } = searchWorld();
    const { time } = search();
    time.begin();
    later(86_400_000);
    time.end(0);
    expect(accounts.waitMs(other)).toBeLessThan(101_000);
  });
});
