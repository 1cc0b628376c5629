import { createHistogram } from 'node:perf_hooks';
import type { RequestEvent } from '../status/events/status-manager-events.ts';
import type { DebugTraffic } from './debug-api.ts';

const keptMs = 300_000;
const longestDelayMs = 86_400_000;

type Second = { -readonly [Name in keyof DebugTraffic]: DebugTraffic[Name] };

/** Requests, acknowledged versions and their delays, second by second, for the last five minutes. */
export class Traffic {
  #seconds: Second[] = [];
  /** The delays of the newest second, each a millisecond longer: a histogram holds nothing below 1. */
  readonly #delays = createHistogram({ lowest: 1, highest: longestDelayMs, figures: 3 });

  /** Counts a request that has ended now. */
  request({ verb, result }: Pick<RequestEvent, 'verb' | 'result'>, now: number): void {
    const second = this.#secondOf(now);
    if (verb === 'patch') second.patches += 1;
    else if (verb === 'get') second.gets += 1;
    else second.deletes += 1;
    if (result !== 'ok') second.failed += 1;
  }

  /** Counts a version that was acknowledged now. */
  synced(delayMs: number, now: number): void {
    const second = this.#secondOf(now);
    second.synced += 1;
    this.#delays.record(Math.min(longestDelayMs, Math.round(delayMs) + 1));
    second.delayP50Ms = undefined;
  }

  /** The seconds that begin at `since` or later, and in which something happened, oldest first. */
  since(since: number, now: number): DebugTraffic[] {
    this.#dropOld(now);
    this.#measure();
    return this.#seconds.filter(({ at }) => at >= since).map((second) => ({ ...second }));
  }

  /** A time before the newest second is counted into that: the clock was set back. */
  #secondOf(now: number): Second {
    const at = Math.floor(now / 1000) * 1000;
    const newest = this.#seconds.at(-1);
    if (newest !== undefined && newest.at >= at) return newest;
    this.#measure();
    this.#delays.reset();
    this.#dropOld(now);
    const zero = { patches: 0, gets: 0, deletes: 0, failed: 0, synced: 0, delayP50Ms: undefined, delayP99Ms: undefined };
    const second: Second = { at, ...zero };
    this.#seconds.push(second);
    return second;
  }

  /** Writes the percentiles of the newest second, unless they stand there already. */
  #measure(): void {
    const newest = this.#seconds.at(-1);
    if (newest === undefined || newest.synced === 0 || newest.delayP50Ms !== undefined) return;
    newest.delayP50Ms = this.#delays.percentile(50) - 1;
    newest.delayP99Ms = this.#delays.percentile(99) - 1;
  }

  #dropOld(now: number): void {
    const oldest = this.#seconds[0];
    if (oldest !== undefined && oldest.at <= now - keptMs) this.#seconds = this.#seconds.filter(({ at }) => at > now - keptMs);
  }
}
