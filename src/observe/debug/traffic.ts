import { createHistogram } from 'node:perf_hooks';
import type { SteadyClock } from '../../base/clock.ts';
import type { RequestEvent } from '../../status/events/status-manager-events.ts';
import type { DebugTraffic } from './debug-api.ts';

const keptMs = 300_000;
const longestDelayMs = 86_400_000;

type Shown = { -readonly [Name in keyof DebugTraffic]: DebugTraffic[Name] };

interface Second {
  /** Counts the seconds with traffic. */
  readonly number: number;
  /** When it began by `Clock.elapsed`, in milliseconds: a wall clock that is set makes no second older. */
  readonly agesFrom: number;
  readonly shown: Shown;
}

/** Requests, acknowledged versions and their delays, second by second, for the last five minutes. */
export class Traffic {
  readonly #clock: SteadyClock;
  #seconds: Second[] = [];
  #newest = 0;
  /** The delays of the newest second, each a millisecond longer: a histogram holds nothing below 1. */
  readonly #delays = createHistogram({ lowest: 1, highest: longestDelayMs, figures: 3 });

  constructor(clock: SteadyClock) {
    this.#clock = clock;
  }

  /** The number of the newest second in which something happened; 0 before that. Each has a larger one than all before. */
  get newest(): number {
    return this.#newest;
  }

  /** Counts a request that has ended now. */
  request({ verb, result }: Pick<RequestEvent, 'verb' | 'result'>): void {
    const second = this.#now();
    if (verb === 'patch') second.patches += 1;
    else if (verb === 'get') second.gets += 1;
    else second.deletes += 1;
    if (result !== 'ok') second.failed += 1;
  }

  /** Counts a version that was acknowledged now. */
  synced(delayMs: number): void {
    const second = this.#now();
    second.synced += 1;
    this.#delays.record(Math.min(longestDelayMs, Math.round(delayMs) + 1));
    second.delayP50Ms = undefined;
  }

  /** The seconds from this number on, of those in which something happened, oldest first. */
  since(number: number): DebugTraffic[] {
    this.#dropOld();
    this.#measure();
    return this.#seconds.filter((second) => second.number >= number).map(({ shown }) => ({ ...shown }));
  }

  #now(): Shown {
    const now = this.#clock.now();
    const at = Math.floor(now / 1000) * 1000;
    const newest = this.#seconds.at(-1);
    // a wall clock that was set, in either direction, begins another second
    if (newest?.shown.at === at) return newest.shown;
    this.#measure();
    this.#delays.reset();
    this.#dropOld();
    const zero = { patches: 0, gets: 0, deletes: 0, failed: 0, synced: 0, delayP50Ms: undefined, delayP99Ms: undefined };
    this.#newest += 1;
    const agesFrom = this.#clock.elapsed() - (now - at);
    const second: Second = { number: this.#newest, agesFrom, shown: { at, ...zero } };
    this.#seconds.push(second);
    return second.shown;
  }

  /** Writes the percentiles of the newest second, unless they stand there already. */
  #measure(): void {
    const newest = this.#seconds.at(-1)?.shown;
    if (newest === undefined || newest.synced === 0 || newest.delayP50Ms !== undefined) return;
    newest.delayP50Ms = this.#delays.percentile(50) - 1;
    newest.delayP99Ms = this.#delays.percentile(99) - 1;
  }

  #dropOld(): void {
    const keptFrom = this.#clock.elapsed() - keptMs;
    const oldest = this.#seconds[0];
    if (oldest !== undefined && oldest.agesFrom <= keptFrom) {
      this.#seconds = this.#seconds.filter(({ agesFrom }) => agesFrom > keptFrom);
    }
  }
}
