import { Backoff } from '../../base/concurrency/backoff.ts';
import { ApiError } from '../transport/api-error.ts';
import { mayGoOnAfter } from './ended-watch.ts';
import { isExpired, isRefusal, isThrottled, retryAfterMsOf } from './failures.ts';
import type { BrokenStream, FinishedWatch, NextStep, ReadPlan } from './read-plan.ts';

/** A watch that ends sooner counts as failed: a server that ends every watch at once is then asked with growing pauses. */
export const shortestGoodWatchMs = 1000;
const backoffLimits = { baseMs: 500, capMs: 30_000 };
const defaultPageSize = 500;

/** What the handlers are told of a watch that ended at once, though in good order. */
export function endedAtOnce(): ApiError {
  return new ApiError({ reason: 'Network', message: 'The server ended the watch at once' });
}

/**
 * Every list is a consistent read, and counts as the truth: a server whose etcd was restored may show less than before, and
 * older objects. A watch that brought nothing is not trusted, since such a server is silent to it.
 */
export class LatestReads implements ReadPlan {
  /** A server, or a proxy, that holds streams back may let a list through: that takes no longer than a request may. */
  readonly streamPatienceMs = 10_000;
  readonly #pageSize: number;
  // two of them: a list that works must not shorten the waits between watches that do not
  readonly #listBackoff: Backoff;
  readonly #watchBackoff: Backoff;
  /** Watches in a row that brought nothing, since the last list. */
  #emptyWatches = 0;

  constructor({ random, pageSize = defaultPageSize }: { readonly random: () => number; readonly pageSize?: number | undefined }) {
    this.#pageSize = pageSize;
    this.#listBackoff = new Backoff({ ...backoffLimits, random });
    this.#watchBackoff = new Backoff({ ...backoffLimits, random });
  }

  isConsistent(): boolean {
    return true;
  }

  streamFrom(): undefined {
    return undefined;
  }

  listFrom(): undefined {
    return undefined;
  }

  pageLimit(): number {
    return this.#pageSize;
  }

  listsAgainAfter(failure: unknown): boolean {
    return isExpired(failure);
  }

  listed(): void {
    this.#emptyWatches = 0;
    this.#listBackoff.reset();
  }

  afterList(failure: unknown): NextStep {
    return { step: 'fill', delayMs: this.#listBackoff.next(retryAfterMsOf(failure)), error: failure };
  }

  afterStream({ failure }: BrokenStream): NextStep {
    const mustWait = isThrottled(failure) || retryAfterMsOf(failure) !== undefined;
    return mustWait ? this.afterList(failure) : { step: 'list', delayMs: 0 };
  }

  afterWatch(watch: FinishedWatch): NextStep {
    const { failure, hasBroughtSomething, lastedMs } = watch;
    this.#emptyWatches = hasBroughtSomething ? 0 : this.#emptyWatches + 1;
    const step = mayGoOnAfter(watch, this.#emptyWatches) ? 'watch' : 'fill';
    const hasWorked = hasBroughtSomething || !isRefusal(failure);
    if (hasWorked && lastedMs >= shortestGoodWatchMs) {
      this.#watchBackoff.reset();
      if (failure === undefined) return { step, delayMs: 0 };
    }
    return { step, delayMs: this.#watchBackoff.next(retryAfterMsOf(failure)), error: failure ?? endedAtOnce() };
  }
}
