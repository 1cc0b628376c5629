import type { Clock } from '../concurrency/clock.ts';

export interface BackoffOptions {
  readonly baseMs: number;
  readonly maxMs: number;
  /** From 0 up to 1. */
  readonly random: () => number;
}

/** No server may keep us away for longer than this. */
const longestRetryAfterMs = 300_000;

/** Exponential backoff with full jitter: between nothing and a ceiling that doubles with every failure. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Counts one failure. How long to wait now: at least what the server asked for, with the jitter on top. */
  next(retryAfterMs = 0): number {
    const { baseMs, maxMs, random } = this.#options;
    const ceiling = Math.min(maxMs, baseMs * 2 ** this.#failures);
    this.#failures += 1;
    return Math.min(retryAfterMs, longestRetryAfterMs) + random() * ceiling;
  }

  reset(): void {
    this.#failures = 0;
  }
}

/** Resolves after `ms`, or at once when `signal` aborts. Holds the process open: an agent whose server is away has nothing else that does. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) {
    resolve();
    return promise;
  }
  const done = (): void => {
    cancel();
    signal.removeEventListener('abort', done);
    resolve();
  };
  const cancel = clock.setTimer(done, ms, { keepAlive: true });
  signal.addEventListener('abort', done);
  return promise;
}
