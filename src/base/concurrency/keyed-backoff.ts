// Behaviour of client-go's flowcontrol.Backoff without jitter, as of Kubernetes v1.36.3.

import type { SteadyClock } from '../clock.ts';
import { type GrowingDelay, nthDelayMs } from './growing-delay.ts';

export interface KeyedBackoffOptions extends GrowingDelay {
  /** A key's waits begin anew when an event comes longer than this after its last count, in milliseconds. */
  readonly resetAfterMs: number;
  readonly clock: SteadyClock;
}

/** What a wait follows, such as the exit of a container. */
export interface BackoffEvent {
  /** The same whenever the same event is asked about. */
  readonly id: string;
  /**
   * When it came, in milliseconds since the epoch; undefined where nobody knows: when it was first asked about, and not before the
   * key's last count.
   */
  readonly at: number | undefined;
}

/** Times are those of the clock that only grows. */
interface Count {
  readonly times: number;
  readonly countedAt: number;
  /** The event that was last asked about, and when it came. */
  seen: { readonly event: BackoffEvent; readonly cameAt: number };
}

/**
 * Waits by key, which grow with each count. How long ago an event came is read off the wall clock when it is first asked about;
 * from then on what passes counts, wherever the wall clock is set. An event from the future came just then.
 */
export class KeyedBackoff {
  readonly #options: KeyedBackoffOptions;
  readonly #counts = new Map<string, Count>();

  constructor(options: KeyedBackoffOptions) {
    this.#options = options;
  }

  /** The number of keys that are counted. */
  get size(): number {
    return this.#counts.size;
  }

  /** The wait that is due after the key's next event; 0 for a key that was never counted. */
  waitMs(key: string): number {
    const count = this.#counts.get(key);
    return count === undefined ? 0 : nthDelayMs(count.times, this.#options);
  }

  /** Counts once more, because of an event. */
  next(key: string, event: BackoffEvent): void {
    const count = this.#counts.get(key);
    const isNew = count === undefined || this.#hasExpired(count, this.#timeOf(count, event));
    const seen = count?.seen ?? { event, cameAt: this.#firstTimeOf(event) };
    this.#counts.set(key, { times: isNew ? 1 : count.times + 1, countedAt: this.#options.clock.elapsed(), seen });
  }

  /** How long the wait after an event still takes, in milliseconds; 0 when it has ended, or there is none. */
  remainingMs(key: string, event: BackoffEvent): number {
    const count = this.#counts.get(key);
    if (count === undefined) return 0;
    const cameAt = this.#timeOf(count, event);
    return this.#hasExpired(count, cameAt) ? 0 : Math.max(0, cameAt + this.waitMs(key) - this.#options.clock.elapsed());
  }

  reset(key: string): void {
    this.#counts.delete(key);
  }

  /** Forgets the keys whose waits would begin anew. */
  gc(): void {
    const now = this.#options.clock.elapsed();
    for (const [key, count] of this.#counts) if (this.#hasExpired(count, now)) this.#counts.delete(key);
  }

  #hasExpired({ countedAt }: Count, cameAt: number): boolean {
    return cameAt - countedAt > this.#options.resetAfterMs;
  }

  /** When the event came. What was said of it when it was first asked about counts. */
  #timeOf(count: Count, event: BackoffEvent): number {
    const { seen } = count;
    if (seen.event.id !== event.id || seen.event.at !== event.at) count.seen = { event, cameAt: this.#firstTimeOf(event) };
    // what nobody knows the time of has come after the last count
    return event.at === undefined ? Math.max(count.seen.cameAt, count.countedAt) : count.seen.cameAt;
  }

  #firstTimeOf({ at }: BackoffEvent): number {
    const { clock } = this.#options;
    return clock.elapsed() - (at === undefined ? 0 : Math.max(0, clock.now() - at));
  }
}
