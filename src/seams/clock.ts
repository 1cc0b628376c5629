import { callGuarded, ignoreFailure } from './guard.ts';

/** Cancels a timer; a second call does nothing. */
export type CancelTimer = () => void;

/** The library's only source of time. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `callback` once, `delayMs` from now, unless cancelled. The timer keeps the process alive only with `keepAlive`. */
  setTimer(callback: () => void, delayMs: number, options?: TimerOptions): CancelTimer;
}

/** How a timer behaves. */
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
 * The same clock with its failures contained. While `now` throws or gives no finite number, the last time that it gave
 * counts. A timer that was cancelled never fires, also when `setTimer` returned nothing to cancel it with.
 */
export function safeClock(clock: Clock): Clock {
  let last = 0;
  const ask = (): unknown => clock.now();
  return {
    now() {
      const now = callGuarded(ask, ignoreFailure);
      if (Number.isFinite(now)) last = now as number;
      return last;
    },
    setTimer(callback, delayMs, options) {
      let isOver = false;
      const fire = (): void => {
        if (!isOver) callback();
      };
      const cancel: unknown = clock.setTimer(fire, delayMs, options);
      return () => {
        isOver = true;
        if (typeof cancel === 'function') callGuarded(() => cancel(), ignoreFailure);
      };
    },
  };
}

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
