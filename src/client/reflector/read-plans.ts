import type { SteadyClock } from '../../base/clock.ts';
import { Backoff, longestRetryAfterMs, nthDelayMs } from '../../base/concurrency/backoff.ts';
import { ApiError } from '../transport/api-error.ts';
import {
  hasBrokenOff,
  isAnswerTooLong,
  isConnectionRefused,
  isExpired,
  isRefusal,
  isSilence,
  isThrottled,
  isTooLarge,
  mayGoOnAfter,
  retryAfterMsOf,
} from './failures.ts';
import type { BrokenStream, FinishedWatch, ListWatchStep, ReadPlan } from './list-watch.ts';

const waits = { firstMs: 800, longestMs: 30_000 };
/** The waits begin anew when the last time they did is longer ago than this. */
const resetMs = 120_000;
const defaultPageSize = 500;
/** Requests that follow one another without a wait, where client-go has no limit: short watches, expired streams. */
const mostAtOnce = 10;

export interface CachedReadsOptions {
  readonly clock: SteadyClock;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly pageSize?: number | undefined;
}

/**
 * The way of client-go's reflector: the first list is whatever the server has in its cache, later ones are not older than
 * what is known, and only when the server cannot serve that is a list a consistent read.
 */
export class CachedReads implements ReadPlan {
  /** A held-back stream is waited for, as client-go does. */
  readonly streamPatienceMs = undefined;
  readonly #options: CachedReadsOptions;
  #waits = 0;
  #waitsSince: number;
  /** Watches in a row that ended within a second. */
  #shortWatches = 0;
  /** Streamed lists in a row that the server could not serve. */
  #unavailableStreams = 0;
  /** The server could not serve the known version: the next list asks for the newest. */
  #isKnownUnavailable = false;
  /** The server serves lists from its cache in pages, so it has no cache. */
  #isPaginated = false;
  /** A list was too long for one answer. The server's cache gives no pages, so every list is then a consistent read. */
  #needsPages = false;

  constructor(options: CachedReadsOptions) {
    this.#options = options;
    this.#waitsSince = options.clock.elapsed();
  }

  isConsistent(from: string | undefined): boolean {
    return from === undefined;
  }

  streamFrom(known: string | undefined): string | undefined {
    return this.#isKnownUnavailable ? undefined : known;
  }

  listFrom(known: string | undefined): string | undefined {
    return this.#isKnownUnavailable || this.#needsPages ? undefined : (known ?? '0');
  }

  pageLimit(from: string | undefined): number | undefined {
    const { pageSize } = this.#options;
    if (pageSize !== undefined) return pageSize;
    // a server answers a list with a limit and a version from etcd, not from its cache
    return this.#isPaginated || from === undefined || from === '0' ? defaultPageSize : undefined;
  }

  listsAgainAfter(failure: unknown): boolean {
    if (isAnswerTooLong(failure) && !this.#needsPages) {
      this.#needsPages = true;
      return true;
    }
    if (!isExpired(failure) && !isTooLarge(failure)) return false;
    this.#isKnownUnavailable = true;
    return true;
  }

  listed({ from, isPaginated }: { readonly from: string | undefined; readonly isPaginated: boolean }): void {
    this.#isKnownUnavailable = false;
    this.#unavailableStreams = 0;
    if (from === '0' && isPaginated) this.#isPaginated = true;
  }

  afterList(failure: unknown): ListWatchStep {
    return this.#wait('fill', failure);
  }

  afterStream({ failure, lastedMs }: BrokenStream): ListWatchStep {
    if (isConnectionRefused(failure) || isThrottled(failure)) return this.#wait('fill', failure);
    if (this.listsAgainAfter(failure)) {
      this.#unavailableStreams += 1;
      return { step: this.#unavailableStreams > mostAtOnce ? 'list' : 'fill', delayMs: 0 };
    }
    const hasEnded = failure === undefined || hasBrokenOff(failure);
    return { step: hasEnded && lastedMs >= shortestGoodWatchMs ? 'fill' : 'list', delayMs: 0 };
  }

  afterWatch({ failure, lastedMs, hasBroughtSomething }: FinishedWatch): ListWatchStep {
    if (isConnectionRefused(failure) || isThrottled(failure)) return this.#wait('watch', failure);
    const isShort = lastedMs < shortestGoodWatchMs;
    this.#shortWatches = isShort ? this.#shortWatches + 1 : 0;
    const hasEnded = failure === undefined || hasBrokenOff(failure) || (isSilence(failure) && hasBroughtSomething);
    if (!hasEnded || (isShort && !hasBroughtSomething)) return this.#wait('fill', failure ?? endedAtOnce());
    if (this.#shortWatches > mostAtOnce) return this.#wait('watch', failure ?? endedAtOnce());
    return { step: 'watch', delayMs: 0 };
  }

  /** The wait is from its base up to twice that; the base doubles up to its limit. */
  #wait(step: ListWatchStep['step'], error: unknown): ListWatchStep {
    const { clock, random } = this.#options;
    const now = clock.elapsed();
    if (now - this.#waitsSince > resetMs) {
      this.#waits = 0;
      this.#waitsSince = now;
    }
    this.#waits += 1;
    const waitMs = nthDelayMs(this.#waits, waits) * (1 + random());
    const askedMs = Math.min(retryAfterMsOf(error) ?? 0, longestRetryAfterMs);
    return { step, delayMs: Math.max(waitMs, askedMs), error };
  }
}

/** A watch that ends sooner counts as failed: a server that ends every watch at once is then asked with growing pauses. */
const shortestGoodWatchMs = 1000;
const backoffLimits = { baseMs: 500, capMs: 30_000 };

/** What the handlers are told of a watch that ended at once, though in good order. */
function endedAtOnce(): ApiError {
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

  afterList(failure: unknown): ListWatchStep {
    return { step: 'fill', delayMs: this.#listBackoff.next(retryAfterMsOf(failure)), error: failure };
  }

  afterStream({ failure }: BrokenStream): ListWatchStep {
    const mustWait = isThrottled(failure) || retryAfterMsOf(failure) !== undefined;
    return mustWait ? this.afterList(failure) : { step: 'list', delayMs: 0 };
  }

  afterWatch(watch: FinishedWatch): ListWatchStep {
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
