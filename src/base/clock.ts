import { callGuarded, ignoreFailure } from './guard.ts';

/** Cancels a timer; a second call does nothing. */
export type CancelTimer = () => void;

/** The library's only source of time. */
export interface Clock {
  /** Milliseconds since the epoch: the wall clock, which may be set forward and back at any moment. */
  now(): number;
  /**
   * Milliseconds since some moment, which only grow, whatever happens to the wall clock. Ages, waits and deadlines are counted
   * with it, and `now` is for times that are told to others. Of a clock without it the machine's own counts, and no less than
   * the timers that have fired.
   */
  elapsed?(): number;
  /** Calls `callback` once, `delayMs` from now, unless cancelled. The timer keeps the process alive only with `keepAlive`. */
  setTimer(callback: () => void, delayMs: number, options?: TimerOptions): CancelTimer;
}

/** A clock that surely counts what passes, as {@link systemClock} does. */
export interface SteadyClock extends Clock {
  /** Milliseconds since some moment, which only grow, whatever happens to the wall clock. */
  elapsed(): number;
}

/** How a timer behaves. */
export interface TimerOptions {
  /** True while a caller awaits the timer. Default false. */
  readonly keepAlive?: boolean;
}

/** The machine's clock. */
export const systemClock: SteadyClock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  setTimer(callback, delayMs, options) {
    const timer = setTimeout(callback, delayMs);
    if (options?.keepAlive !== true) timer.unref();
    return () => clearTimeout(timer);
  },
};

/**
 * The same clock with its failures contained. While `now` throws or gives no finite number, the last time that it gave
 * counts; the same holds for `elapsed`, which never goes back. A timer that was cancelled never fires, also when `setTimer`
 * returned nothing to cancel it with. A clock that is safe already is returned as it is: the parts of a node share one.
 */
export function safeClock(clock: Clock): SteadyClock {
  return clock === systemClock || clock instanceof SafeClock ? (clock as SteadyClock) : new SafeClock(clock);
}

/** Its methods may be taken from it. */
class SafeClock implements SteadyClock {
  readonly #clock: Clock;
  readonly #hasElapsed: boolean;
  readonly #time: GrowingTime;
  #last = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#hasElapsed = typeof clock.elapsed === 'function';
    this.#time = this.#hasElapsed ? growing(() => clock.elapsed?.()) : machineTime();
  }

  readonly now = (): number => {
    const now = callGuarded(this.#ask, ignoreFailure);
    if (Number.isFinite(now)) this.#last = now as number;
    return this.#last;
  };

  readonly elapsed = (): number => this.#time.read();

  readonly setTimer = (callback: () => void, delayMs: number, options?: TimerOptions): CancelTimer => {
    let isOver = false;
    const dueAt = this.#hasElapsed ? 0 : this.#time.read() + delayMs;
    const fire = (): void => {
      if (isOver) return;
      this.#time.atLeast(dueAt);
      callback();
    };
    const cancel: unknown = this.#clock.setTimer(fire, delayMs, options);
    return () => {
      isOver = true;
      if (typeof cancel === 'function') callGuarded(() => cancel(), ignoreFailure);
    };
  };

  readonly #ask = (): unknown => this.#clock.now();
}

interface GrowingTime {
  readonly read: () => number;
  /** Something shows that so much has passed. */
  readonly atLeast: (ms: number) => void;
}

/** The answers of `ask` that are larger than all before; the largest one otherwise. */
function growing(ask: () => unknown): GrowingTime {
  let last = 0;
  const atLeast = (ms: unknown): void => {
    if (Number.isFinite(ms)) last = Math.max(last, ms as number);
  };
  const read = (): number => {
    atLeast(callGuarded(ask, ignoreFailure));
    return last;
  };
  return { read, atLeast };
}

/** For a clock that tells the wall clock alone. What its timers show is added: in a virtual time they run ahead of the machine. */
function machineTime(): GrowingTime {
  let ahead = 0;
  const time = growing(() => systemClock.elapsed() + ahead);
  const atLeast = (ms: number): void => {
    ahead += Math.max(0, ms - time.read());
  };
  return { read: time.read, atLeast };
}

/**
 * Resolves after `ms`, or at once when `signal` aborts. Never rejects: the caller checks the signal afterwards.
 * Keeps the process alive meanwhile, unless `options` say otherwise.
 */
export function sleep(clock: Clock, ms: number, signal: AbortSignal, options: TimerOptions = { keepAlive: true }): Promise<void> {
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
  const cancel = clock.setTimer(done, ms, options);
  signal.addEventListener('abort', done);
  return promise;
}
