/** Bounds of an exponential backoff with full jitter. */
export interface BackoffOptions {
  /** The longest first wait. */
  readonly baseMs: number;
  /** The longest wait of all. */
  readonly capMs: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** No server may keep us away for longer than this, whatever its `Retry-After` says. */
export const longestRetryAfterMs = 300_000;

/** How long to wait before attempt `attempt` (1 is the first retry): anything up to a ceiling that doubles, in milliseconds. */
export function backoffMs(attempt: number, { baseMs, capMs, random }: BackoffOptions): number {
  const ceiling = Math.min(capMs, baseMs * 2 ** Math.min(attempt - 1, 30));
  return Math.ceil(random() * ceiling);
}

/** {@link backoffMs} for a loop: counts the failures in a row. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /**
   * Counts one failure. How long to wait now, in milliseconds: what the server asked for, with the jitter on top. What is
   * no time to come (0, a negative number, NaN) asks for nothing: the wait is never shorter than the backoff's own.
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
