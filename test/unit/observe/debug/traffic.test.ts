import { describe, expect, it } from 'vitest';
import { Traffic } from '../../../../src/observe/debug/traffic.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';

const none = { patches: 0, gets: 0, deletes: 0, failed: 0, synced: 0, delayP50Ms: undefined, delayP99Ms: undefined };
const get = { verb: 'get', result: 'ok' } as const;

function trafficAt(start: number): { clock: FakeClock; traffic: Traffic } {
  const clock = new FakeClock({ start });
  return { clock, traffic: new Traffic(clock) };
}

describe('Traffic', () => {
  it('counts requests by verb, and those that failed, second by second', async () => {
    const { clock, traffic } = trafficAt(10_000);
    traffic.request({ verb: 'patch', result: 'ok' });
    await clock.advance(999);
    traffic.request({ verb: 'patch', result: 'conflict' });
    await clock.advance(1);
    traffic.request(get);
    const { newest } = traffic;
    await clock.advance(2_500);
    traffic.request({ verb: 'delete', result: 'ok' });
    expect(traffic.since(0)).toEqual([
      { ...none, at: 10_000, patches: 2, failed: 1 },
      { ...none, at: 11_000, gets: 1 },
      { ...none, at: 13_000, deletes: 1 },
    ]);
    expect(traffic.since(newest).map(({ at }) => at)).toEqual([11_000, 13_000]);
    expect(traffic.since(traffic.newest).map(({ at }) => at)).toEqual([13_000]);
  });

  it('measures delays: half of them and 99 of a hundred are at most so long', async () => {
    const { clock, traffic } = trafficAt(20_000);
    for (let delay = 1; delay <= 200; delay++) traffic.synced(delay);
    expect(traffic.since(0)).toEqual([{ ...none, at: 20_000, synced: 200, delayP50Ms: 100, delayP99Ms: 198 }]);
    await clock.advance(1_000);
    traffic.synced(0);
    expect(traffic.since(traffic.newest)).toMatchObject([{ synced: 1, delayP50Ms: 0, delayP99Ms: 0 }]);
    await clock.advance(500);
    traffic.synced(5);
    traffic.synced(5);
    expect(traffic.since(traffic.newest)).toMatchObject([{ synced: 3, delayP50Ms: 5 }]);
    expect(traffic.since(0)[0]).toMatchObject({ delayP50Ms: 100, delayP99Ms: 198 });
  });

  it('takes delays of any length', () => {
    const { traffic } = trafficAt(1_000);
    traffic.synced(10 * 86_400_000);
    expect(traffic.since(0)[0]?.delayP50Ms).toBeGreaterThan(86_000_000);
  });

  it('forgets what is older than five minutes', async () => {
    const { clock, traffic } = trafficAt(1_000);
    for (let second = 1; second <= 400; second++) {
      traffic.request(get);
      await clock.advance(second < 400 ? 1_000 : 0);
    }
    const kept = traffic.since(0);
    expect([kept.length, kept[0]?.at]).toEqual([300, 101_000]);
    await clock.advance(200_000);
    expect(traffic.since(0).map(({ at }) => at)[0]).toBe(301_000);
    await clock.advance(9_000_000);
    expect(traffic.since(0)).toEqual([]);
  });

  it.each([
    -3_600_000, 3_600_000,
  ])('goes on second by second, and forgets nothing too soon or too late, when the clock is set by %s ms', async (ms) => {
    const { clock, traffic } = trafficAt(7_200_000);
    traffic.request(get);
    clock.jump(ms);
    for (let second = 0; second < 3; second++) {
      await clock.advance(1_000);
      traffic.request(get);
    }
    const after = [1_000, 2_000, 3_000].map((passed) => 7_200_000 + ms + passed);
    expect(traffic.since(0).map(({ at, gets }) => [at, gets])).toEqual([7_200_000, ...after].map((at) => [at, 1]));
    await clock.advance(297_000);
    expect(traffic.since(0).map(({ at }) => at)).toEqual(after);
    await clock.advance(3_000);
    expect(traffic.since(0)).toEqual([]);
  });

  it('hands out copies', () => {
    const { traffic } = trafficAt(1_000);
    traffic.request(get);
    Object.assign(traffic.since(0)[0] ?? {}, { gets: 99 });
    expect(traffic.since(0)).toMatchObject([{ gets: 1 }]);
  });
});
