import { nthDelayMs } from './growing-delay.ts';

/** Bounds of an exponential backoff with full jitter. */
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

/** The wait before retry `attempt` (1 is the first), in milliseconds: random, up to a ceiling that doubles with each attempt. */
export function backoffMs(attempt: number, { baseMs, capMs, random }: BackoffOptions): number {
  return Math.ceil(random() * nthDelayMs(attempt, { firstMs: baseMs, longestMs: capMs }));
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
