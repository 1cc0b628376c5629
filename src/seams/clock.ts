/** Cancels a timer; a second call does nothing. */
export type CancelTimer = () => void;

/** The library's only source of time. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `callback` once, `delayMs` from now, unless cancelled. The timer keeps the process alive only with `keepAlive`. */
  setTimer(callback: () => void, delayMs: number, options?: TimerOptions): CancelTimer;
}

export interface TimerOptions {
  /** True while a caller awaits the timer. Default false. */
  readonly keepAlive?: boolean;
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer(callback, delayMs, options) {
    const timer = setTimeout(callback, delayMs);
    if (options?.keepAlive !== true) timer.unref();
    return () => clearTimeout(timer);
  },
};

/**
 * Resolves after `ms`, or at once when `signal` aborts. Never rejects: the caller checks the signal afterwards.
 * Keeps the process alive meanwhile.
 */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
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
