import { backoffMs, longestRetryAfterMs } from '../../base/concurrency/backoff.ts';
import type { RequestFailure } from './request-failure.ts';

/** The bounds of every wait after a failure. */
export const backoff = { baseMs: 1000, capMs: 60_000 } as const;

/** How long the server asked to wait, five minutes at the longest; 0 when it asked for nothing. */
export function askedMs({ failure }: RequestFailure): number {
  return Math.min(failure.retryAfterMs ?? 0, longestRetryAfterMs);
}

export interface ThrottlingOptions {
  readonly random: () => number;
}

/** The pauses of the whole client, after answers that concern every request: too many requests, or no valid credentials. */
export class Throttling {
  readonly #options: ThrottlingOptions;
  #failuresInARow = 0;

  constructor(options: ThrottlingOptions) {
    this.#options = options;
  }

  /** A request has succeeded: the next pause is short again. */
  succeed(): void {
    this.#failuresInARow = 0;
  }

  /**
   * How long the whole client pauses after this failure; undefined for one that concerns its pod alone. What the server asked
   * for, and never less than our own backoff. Requests that were under way together and failed together count as one failure.
   * `pauseLeftMs`: what is left of the pause that runs already, if there is one.
   */
  pauseMs(failure: RequestFailure, pauseLeftMs: number | undefined): number | undefined {
    if (failure.errorClass !== 'throttled' && failure.errorClass !== 'unauthorized') return undefined;
    const { random } = this.#options;
    if (pauseLeftMs !== undefined) return Math.max(askedMs(failure), pauseLeftMs);
    this.#failuresInARow++;
    return Math.max(askedMs(failure), backoffMs(this.#failuresInARow, { ...backoff, random }));
  }
}
