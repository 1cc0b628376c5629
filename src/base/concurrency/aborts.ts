import { type CancelTimer, type Clock, type SteadyClock, safeClock } from '../clock.ts';
import { ignoreFailure } from '../guard.ts';

// Everything that waits for an AbortSignal goes through these functions, and through `sleep` of clock.ts. A signal, and the promise
// of a part's end, may live as long as the process: whoever listens to one lets go of it as soon as the wait is over, or each wait
// leaks what it closes over.

/**
 * Calls `listener` once when the signal aborts, and at once where it has aborted already. The function that it returns ends
 * the listening; a second call does nothing. Without a signal nothing is listened to.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal === undefined) return () => {};
  if (signal.aborted) {
    listener();
    return () => {};
  }
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

/**
 * The same as `work`, but rejects with the signal's reason once that aborts. `work` may go on; its end is ignored then. Leaves
 * no listener. Where both have come already, the abort counts.
 */
export async function untilAborted<T>(work: PromiseLike<T> | T, signal: AbortSignal | undefined): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const leave = onAbort(signal, () => reject(signal?.reason));
  // not `resolve(work)`: a promise that is resolved with another one can no longer be rejected
  Promise.resolve(work).then(resolve, reject);
  try {
    return await promise;
  } finally {
    leave();
  }
}

/** A controller of one's own whose signal also aborts with any of the signals it follows, until `release` is called. */
export class LinkedAbort {
  readonly #controller = new AbortController();
  readonly #leave: readonly (() => void)[];

  constructor(...signals: readonly (AbortSignal | undefined)[]) {
    this.#leave = signals.map((signal) => onAbort(signal, () => this.abort(signal?.reason)));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts the own signal. The signals that it follows are not touched. */
  abort(reason?: unknown): void {
    this.#controller.abort(reason);
  }

  /** Follows no signal any more. The own signal stays as it is. */
  release(): void {
    for (const leave of this.#leave) leave();
  }
}

/** The reason of a signal that nobody listens to any more. To make an error for each call would cost more than the call. */
const isOver = 'the call is over';

/** How long something is waited for. */
export interface WaitLimits {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Ends the wait when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

export interface CallLimits extends WaitLimits {
  /** The error once the time is over. */
  readonly late: () => unknown;
}

/**
 * Makes a call that may hang. Rejects with the error of `late` once the time is over, and with the signal's reason once that
 * aborts, before the call too. The call's own signal aborts when nobody waits for it any more, so also once it has settled.
 */
export async function callWithin<T>(call: (signal: AbortSignal) => PromiseLike<T> | T, limits: CallLimits): Promise<T> {
  const { clock, timeoutMs, signal, late } = limits;
  signal?.throwIfAborted();
  const linked = new LinkedAbort(signal);
  let cancel: CancelTimer | undefined;
  try {
    cancel = clock.setTimer(() => linked.abort(late()), timeoutMs, { keepAlive: true });
    return await untilAborted(call(linked.signal), linked.signal);
  } finally {
    cancel?.();
    linked.release();
    linked.abort(isOver);
  }
}

/** What cuts a wait short. */
export interface WatchedLimits {
  readonly clock: Clock;
  /** Undefined: no limit. */
  readonly timeoutMs: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** True: the process stays alive until the time is over. Default false. */
  readonly keepAlive?: boolean;
}

/** Who is told that a wait is cut short. At most one of the two is called, once. */
export interface CutShort {
  /** The time is over. */
  onTimeout(): void;
  /** The signal has aborted. */
  onAbort(reason: unknown): void;
}

/** Watches over one wait. What it returns ends the watch: no timer and no listener is left. */
export function watchLimits({ clock, timeoutMs, signal, keepAlive = false }: WatchedLimits, told: CutShort): () => void {
  let leave = (): void => {};
  const end = (): void => {
    cancel?.();
    leave();
  };
  const onTimeout = (): void => {
    end();
    told.onTimeout();
  };
  const cancel = timeoutMs === undefined ? undefined : clock.setTimer(onTimeout, timeoutMs, { keepAlive });
  leave = onAbort(signal, () => {
    end();
    told.onAbort(signal?.reason);
  });
  return end;
}

/** True when `work` has settled, either way, before the time is over and before the signal aborts. Never rejects. */
export async function settlesWithin(work: PromiseLike<unknown>, { clock, timeoutMs, signal }: WaitLimits): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const settled = (): void => resolve(true);
  Promise.resolve(work).then(settled, settled).catch(ignoreFailure);
  const giveUp = (): void => resolve(false);
  const end = watchLimits({ clock, timeoutMs, signal, keepAlive: true }, { onTimeout: giveUp, onAbort: giveUp });
  const isSettled = await promise;
  end();
  return isSettled;
}

/** One deadline that several pieces of work share, one after another. */
export class TimeLeft {
  readonly #clock: SteadyClock;
  readonly #totalMs: number;
  readonly #startedAt: number;

  constructor(clock: Clock, totalMs: number) {
    this.#clock = safeClock(clock);
    this.#totalMs = totalMs;
    this.#startedAt = this.#clock.elapsed();
  }

  /** What is left, in milliseconds, and never more than `atMostMs`. */
  ms(atMostMs = Number.POSITIVE_INFINITY): number {
    const passedMs = this.#clock.elapsed() - this.#startedAt;
    return Math.max(0, Math.min(this.#totalMs - passedMs, atMostMs));
  }

  /** True when the work has ended in time, well or not: within what is left, and within `atMostMs`. Never rejects. */
  allows(work: Promise<unknown>, atMostMs?: number): Promise<boolean> {
    return settlesWithin(work, { clock: this.#clock, timeoutMs: this.ms(atMostMs) });
  }
}

/** What becomes of the work for each item, in the order of the items: so much of it goes on at once. */
export async function settledAtOnce<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<R>,
): Promise<readonly PromiseSettledResult<R>[]> {
  const results: PromiseSettledResult<R>[] = [];
  const waiting = items.entries();
  const next = async (): Promise<void> => {
    for (const [index, item] of waiting) {
      const [result] = await Promise.allSettled([work(item)]);
      results[index] = result;
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, next));
  return results;
}

/** The result of a call that may never settle: rejects with the signal's reason when that comes first. */
export async function whileGoing<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return untilAborted(call(), signal);
}
