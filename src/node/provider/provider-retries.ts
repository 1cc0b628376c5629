import type { SteadyClock } from '../../base/clock.ts';
import { backoffMs } from '../../base/concurrency/backoff.ts';
import { BackoffError, FailedCall } from '../workers/backoff-error.ts';

export interface ProviderRetriesOptions {
  /** The longest wait after the first failure; it doubles with each further one, and the wait is drawn from 0 up to it. */
  readonly backoffBaseMs: number;
  /** The longest wait of all. */
  readonly backoffMaxMs: number;
  readonly random: () => number;
  readonly clock: SteadyClock;
}

/** When a call that has failed is made again. */
export interface RetryTime {
  /** In milliseconds since the epoch: to be told. */
  readonly retryAt: number;
  /** By `clock.elapsed()`: to be waited for. */
  readonly dueAt: number;
  /** In milliseconds. */
  readonly delayMs: number;
}

/** The waits of a provider's calls that have failed. Each pod waits by itself, and each wait ends when it was said to. */
export class ProviderRetries {
  readonly #options: ProviderRetriesOptions;

  constructor(options: ProviderRetriesOptions) {
    this.#options = options;
  }

  /** `attempt`: how many calls in a row have failed. `mostMs` bounds the wait, too. */
  after(attempt: number, mostMs = Number.POSITIVE_INFINITY): RetryTime {
    const { backoffBaseMs, backoffMaxMs, random, clock } = this.#options;
    const delayMs = backoffMs(attempt, { baseMs: backoffBaseMs, capMs: Math.min(backoffMaxMs, mostMs), random });
    return { retryAt: clock.now() + delayMs, dueAt: clock.elapsed() + delayMs, delayMs };
  }

  /** What a sync rejects with, so that it is repeated then. */
  backoffError(message: string, dueAt: number): BackoffError {
    return new BackoffError(message, this.#until(dueAt), { isExact: true });
  }

  /** The same for a failure that nobody else tells of. */
  failedCall(method: string, message: string, dueAt: number, cause: unknown): BackoffError {
    return new FailedCall(method, message, this.#until(dueAt), cause);
  }

  #until(dueAt: number): number {
    const { clock } = this.#options;
    return Math.ceil(clock.now() + Math.max(0, dueAt - clock.elapsed()));
  }
}
