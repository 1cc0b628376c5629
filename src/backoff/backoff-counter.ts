// Behaviour of client-go's flowcontrol.Backoff without jitter, as of Kubernetes v1.36.3.

import type { Clock } from '../seams/clock.ts';

export interface BackoffCounterOptions {
  /** The first wait, in milliseconds. */
  readonly baseMs: number;
  /** The longest wait, in milliseconds. */
  readonly maxMs: number;
  /** A key's waits begin anew when an event comes longer than this after its last count, in milliseconds. */
  readonly resetAfterMs: number;
  readonly clock: Clock;
}

interface Count {
  waitMs: number;
  countedAt: number;
}

/** Waits by key: each count doubles the wait, up to a longest one. Times are in milliseconds since the epoch. */
export class BackoffCounter {
  readonly #options: BackoffCounterOptions;
  readonly #counts = new Map<string, Count>();

  constructor(options: BackoffCounterOptions) {
    this.#options = options;
  }

  /** The number of keys that are counted. */
  get size(): number {
    return this.#counts.size;
  }

  /** The wait that is due after the key's next event; 0 for a key that was never counted. */
  waitMs(key: string): number {
    return this.#counts.get(key)?.waitMs ?? 0;
  }

  /** Counts once more, because of an event at `eventAt`. */
  next(key: string, eventAt: number): void {
    const { baseMs, maxMs, clock } = this.#options;
    const countedAt = clock.now();
    const count = this.#counts.get(key);
    if (count === undefined || this.#hasExpired(count, eventAt)) this.#counts.set(key, { waitMs: baseMs, countedAt });
    else {
      count.waitMs = Math.min(count.waitMs * 2, maxMs);
      count.countedAt = countedAt;
    }
  }

  /** When the wait after an event at `eventAt` ends; undefined when it has ended, or there is none. */
  waitsUntil(key: string, eventAt: number): number | undefined {
    const count = this.#counts.get(key);
    if (count === undefined || this.#hasExpired(count, eventAt)) return undefined;
    const until = eventAt + count.waitMs;
    return this.#options.clock.now() < until ? until : undefined;
  }

  reset(key: string): void {
    this.#counts.delete(key);
  }

  /** Forgets the keys whose waits would begin anew. */
  gc(): void {
    const now = this.#options.clock.now();
    for (const [key, count] of this.#counts) if (this.#hasExpired(count, now)) this.#counts.delete(key);
  }

  #hasExpired({ countedAt }: Count, eventAt: number): boolean {
    return eventAt - countedAt > this.#options.resetAfterMs;
  }
}
