import { describe, expect, it } from 'vitest';
import { Traffic } from '../../../src/debug/traffic.ts';

const none = { patches: 0, gets: 0, deletes: 0, failed: 0, synced: 0, delayP50Ms: undefined, delayP99Ms: undefined };
const get = { verb: 'get', result: 'ok' } as const;

describe('Traffic', () => {
  it('counts requests by verb, and those that failed, second by second', () => {
    const traffic = new Traffic();
    traffic.request({ verb: 'patch', result: 'ok' }, 10_000);
    traffic.request({ verb: 'patch', result: 'conflict' }, 10_999);
    traffic.request(get, 11_000);
    traffic.request({ verb: 'delete', result: 'ok' }, 13_500);
    expect(traffic.since(0, 13_600)).toEqual([
      { ...none, at: 10_000, patches: 2, failed: 1 },
      { ...none, at: 11_000, gets: 1 },
      { ...none, at: 13_000, deletes: 1 },
    ]);
    expect(traffic.since(11_001, 13_600).map(({ at }) => at)).toEqual([13_000]);
  });

  it('measures delays: half of them and 99 of a hundred are at most so long', () => {
    const traffic = new Traffic();
    for (let delay = 1; delay <= 200; delay++) traffic.synced(delay, 20_000);
    expect(traffic.since(0, 20_000)).toEqual([{ ...none, at: 20_000, synced: 200, delayP50Ms: 100, delayP99Ms: 198 }]);
    traffic.synced(0, 21_000);
    expect(traffic.since(21_000, 21_000)).toMatchObject([{ synced: 1, delayP50Ms: 0, delayP99Ms: 0 }]);
    traffic.synced(5, 21_500);
    traffic.synced(5, 21_500);
    expect(traffic.since(21_000, 21_500)).toMatchObject([{ synced: 3, delayP50Ms: 5 }]);
    expect(traffic.since(0, 21_500)[0]).toMatchObject({ delayP50Ms: 100, delayP99Ms: 198 });
  });

  it('takes delays of any length', () => {
    const traffic = new Traffic();
    traffic.synced(10 * 86_400_000, 1_000);
    expect(traffic.since(0, 1_000)[0]?.delayP50Ms).toBeGreaterThan(86_000_000);
  });

  it('forgets what is older than five minutes', () => {
    const traffic = new Traffic();
    for (let second = 1; second <= 1_000; second++) traffic.request(get, second * 1_000);
    const kept = traffic.since(0, 1_000_000);
    expect([kept.length, kept[0]?.at]).toEqual([300, 701_000]);
    expect(traffic.since(0, 1_200_000).map(({ at }) => at)[0]).toBe(901_000);
    expect(traffic.since(0, 9_000_000)).toEqual([]);
  });

  it('counts on when the clock is set back', () => {
    const traffic = new Traffic();
    traffic.request(get, 50_000);
    traffic.request(get, 40_000);
    expect(traffic.since(0, 40_000)).toMatchObject([{ at: 50_000, gets: 2 }]);
  });

  it('hands out copies', () => {
    const traffic = new Traffic();
    traffic.request(get, 1_000);
    Object.assign(traffic.since(0, 1_000)[0] ?? {}, { gets: 99 });
    expect(traffic.since(0, 1_000)).toMatchObject([{ gets: 1 }]);
  });
});
