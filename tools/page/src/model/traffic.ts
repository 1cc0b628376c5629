import type { DebugTraffic } from '../../../../src/observe/debug/debug-api.ts';

/** The charts show so many seconds. */
export const shownSeconds = 300;

/**
 * The seconds known so far with the new ones put in, oldest first; seconds that are too old for the charts are dropped. What is
 * later than the newest of the new ones is from before the server's clock was set back, and dropped, too.
 */
export function mergeTraffic(known: readonly DebugTraffic[], news: readonly DebugTraffic[]): readonly DebugTraffic[] {
  const newest = news.at(-1)?.at;
  if (newest === undefined) return known;
  const bySecond = new Map([...known, ...news].map((second) => [second.at, second]));
  const shown = [...bySecond.values()].filter(({ at }) => at <= newest && at > newest - shownSeconds * 1000);
  return shown.sort((a, b) => a.at - b.at);
}

/** Columns of one chart: the seconds (since the epoch), then one column of values for each series. */
export interface TrafficColumns {
  readonly seconds: readonly number[];
  readonly patches: readonly number[];
  readonly gets: readonly number[];
  readonly deletes: readonly number[];
  readonly failed: readonly number[];
  readonly p50: readonly (number | null)[];
  readonly p99: readonly (number | null)[];
}

/** Every second that is over, also those without traffic, which have no requests and no delay. */
export function columnsOf(traffic: readonly DebugTraffic[], now: number): TrafficColumns {
  const last = Math.floor(now / 1000) - 1;
  const bySecond = new Map(traffic.map((second) => [Math.floor(second.at / 1000), second]));
  const seconds = Array.from({ length: shownSeconds }, (_, index) => last - shownSeconds + 1 + index);
  const found = seconds.map((second) => bySecond.get(second));
  const numbers = (name: 'patches' | 'gets' | 'deletes' | 'failed'): number[] => found.map((one) => one?.[name] ?? 0);
  const delays = (name: 'delayP50Ms' | 'delayP99Ms'): (number | null)[] => found.map((one) => one?.[name] ?? null);
  return {
    seconds,
    patches: numbers('patches'),
    gets: numbers('gets'),
    deletes: numbers('deletes'),
    failed: numbers('failed'),
    p50: delays('delayP50Ms'),
    p99: delays('delayP99Ms'),
  };
}
