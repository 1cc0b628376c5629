import type { SteadyClock } from '../clock.ts';

/** Delays that grow from one to the next. */
export interface GrowingDelay {
  readonly firstMs: number;
  /** Default: without limit. */
  readonly longestMs?: number;
  /** What a delay is multiplied by to give the next one. Default 2. */
  readonly factor?: number;
}

/** From here on a delay grows no more. A power beyond all numbers would make a first delay of 0 no number at all. */
const mostSteps = 1000;

/** The n-th delay in milliseconds; 1 is the first. Chance, where it plays a part, is its caller's. */
export function nthDelayMs(n: number, { firstMs, longestMs = Number.POSITIVE_INFINITY, factor = 2 }: GrowingDelay): number {
  return Math.min(longestMs, firstMs * factor ** Math.min(n - 1, mostSteps));
}

// Behaviour of client-go's flowcontrol.Backoff without jitter, as of Kubernetes v1.36.3.

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

/** Bounds of an exponential backoff with full jitter, from 100 ms on. */
export interface BackoffOptions {
  /** The longest first wait. */
  readonly baseMs: number;
  /** The longest wait of all. */
  readonly capMs: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** The longest wait that a server's `Retry-After` can bring, in milliseconds. */
export const longestRetryAfterMs = 300_000;

/** No wait is shorter, whatever `random` answers, unless its ceiling is: what fails is never tried again without a pause. */
const shortestBackoffMs = 100;

/**
 * The wait before retry `attempt` (1 is the first), in milliseconds: random, from 100 ms up to a ceiling that doubles with each
 * attempt. It is the ceiling where that is less.
 */
export function backoffMs(attempt: number, { baseMs, capMs, random }: BackoffOptions): number {
  const ceilingMs = nthDelayMs(attempt, { firstMs: baseMs, longestMs: capMs });
  return Math.ceil(Math.max(Math.min(shortestBackoffMs, ceilingMs), random() * ceilingMs));
}

/** {@link backoffMs} for a loop: counts the failures in a row. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /**
   * Counts one failure and returns the wait that follows, in milliseconds: `retryAfterMs` plus the backoff's own wait. A
   * `retryAfterMs` that is not positive (0, a negative number, NaN) counts as 0.
   */
  next(retryAfterMs = 0): number {
    this.#failures += 1;
    const askedMs = retryAfterMs > 0 ? Math.min(retryAfterMs, longestRetryAfterMs) : 0;
    return askedMs + backoffMs(this.#failures, this.#options);
  }

  reset(): void {
    this.#failures = 0;
  }
}
