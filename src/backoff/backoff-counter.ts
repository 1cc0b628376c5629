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

/** What a wait follows, such as the exit of a container. */
export interface BackoffEvent {
  /** The same whenever the same event is asked about. */
  readonly id: string;
  /** When it came; undefined where nobody knows: when it was first asked about, and not before the key's last count. */
  readonly at: number | undefined;
}

interface Count {
  waitMs: number;
  countedAt: number;
  /** The event that was last asked about. */
  seen: { readonly event: BackoffEvent; readonly firstAt: number } | undefined;
}

/**
 * Waits by key: each count doubles the wait, up to a longest one. Times are in milliseconds since the epoch. A clock that is set
 * back, and an event from the future, make no wait longer than it says.
 */
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

  /** Counts once more, because of an event. */
  next(key: string, event: BackoffEvent): void {
    const { baseMs, maxMs, clock } = this.#options;
    const now = clock.now();
    const count = this.#counts.get(key);
    const isNew = count === undefined || this.#hasExpired(count, timeOf(count, event, now));
    const waitMs = isNew ? baseMs : Math.min(count.waitMs * 2, maxMs);
    this.#counts.set(key, { waitMs, countedAt: now, seen: count?.seen ?? { event, firstAt: now } });
  }

  /** How long the wait after an event still takes, in milliseconds; 0 when it has ended, or there is none. */
  remainingMs(key: string, event: BackoffEvent): number {
    const count = this.#counts.get(key);
    if (count === undefined) return 0;
    const now = this.#options.clock.now();
    const eventAt = timeOf(count, event, now);
    return this.#hasExpired(count, eventAt) ? 0 : Math.max(0, eventAt + count.waitMs - now);
  }

  reset(key: string): void {
    this.#counts.delete(key);
  }

  /** Forgets the keys whose waits would begin anew. */
  gc(): void {
    const now = this.#options.clock.now();
    for (const [key, count] of this.#counts) {
      keepBehind(count, now);
      if (this.#hasExpired(count, now)) this.#counts.delete(key);
    }
  }

  #hasExpired({ countedAt }: Count, eventAt: number): boolean {
    return eventAt - countedAt > this.#options.resetAfterMs;
  }
}

/** When the event counts as having come: never after it was first asked about. */
function timeOf(count: Count, event: BackoffEvent, now: number): number {
  keepBehind(count, now);
  const { seen } = count;
  const isSame = seen !== undefined && seen.event.id === event.id && seen.event.at === event.at;
  const firstAt = isSame ? Math.min(seen.firstAt, now) : now;
  count.seen = { event, firstAt };
  return event.at === undefined ? Math.max(firstAt, count.countedAt) : Math.min(firstAt, event.at);
}

/** After a clock was set back, the last count counts as having come now. */
function keepBehind(count: Count, now: number): void {
  count.countedAt = Math.min(count.countedAt, now);
}
