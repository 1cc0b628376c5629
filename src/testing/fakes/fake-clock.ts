import { setImmediate } from 'node:timers/promises';
import type { CancelTimer, Clock, TimerOptions } from '../../base/clock.ts';
import { invalidArgument, StatusManagerError } from '../../base/errors.ts';
import { longestTimerMs } from '../../base/options.ts';

/** More timers than this at one instant count as an endless loop. */
const timersPerInstant = 100_000;

/**
 * Lets every microtask and every continuation queued by `setImmediate` run, for `turns` turns of the event loop. Waits for no real time.
 *
 * @example
 * ```ts
 * import { settle } from 'pod-status-manager/testing';
 *
 * let isDone = false;
 * void Promise.resolve().then(() => {
 *   isDone = true;
 * });
 * await settle();
 * console.log(isDone); // true
 * ```
 */
export async function settle(turns = 5): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await setImmediate();
}

/** What the constructor of `FakeClock` takes. */
export interface FakeClockOptions {
  /** The first value of `now()`: a date or milliseconds since the epoch. Default 2000-01-01T00:00:00Z. */
  readonly start?: Date | number;
}

interface Timer {
  readonly dueMs: number;
  readonly callback: () => void;
}

/**
 * A clock that stands still until a test moves it. Timers follow the time that has passed, not the wall clock, as
 * Node's timers do: `set` and `jump` move `now()` alone.
 *
 * @example
 * ```ts
 * import { FakeClock } from 'pod-status-manager/testing';
 *
 * const clock = new FakeClock();
 * clock.setTimer(() => console.log('a minute has passed'), 60_000); // a minute has passed
 * await clock.advance(60_000);
 * ```
 */
export class FakeClock implements Clock {
  #elapsedMs = 0;
  #wallOffsetMs: number;
  /** In order of creation, which is also the order of timers due at the same instant. */
  readonly #timers = new Set<Timer>();

  constructor({ start = Date.UTC(2000, 0, 1) }: FakeClockOptions = {}) {
    this.#wallOffsetMs = finite('start', Number(start));
  }

  now(): number {
    return this.#elapsedMs + this.#wallOffsetMs;
  }

  /** What {@link advance} has let pass, in milliseconds. */
  elapsed(): number {
    return this.#elapsedMs;
  }

  setTimer(callback: () => void, delayMs: number, _options?: TimerOptions): CancelTimer {
    if (!(delayMs <= longestTimerMs)) throw invalidArgument('delayMs', `at most ${longestTimerMs}`, delayMs);
    const timer: Timer = { dueMs: this.#elapsedMs + Math.max(0, delayMs), callback };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  /** The number of timers that have neither fired nor been cancelled. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /**
   * Lets `ms` pass: fires every timer that falls due, in time order, and settles after each and at the end. It waits for
   * promises and `setImmediate` as {@link settle} does, a few turns of the event loop, and not for sockets, files, child
   * processes or timers of Node: with a real connection, wait for its answer before the next `advance`.
   */
  async advance(ms: number): Promise<void> {
    if (!(ms >= 0)) throw invalidArgument('ms', 'zero or more', ms);
    const until = this.#elapsedMs + finite('ms', ms);
    let firedAtThisInstant = 0;
    await settle();
    for (let timer = this.#nextDue(until); timer !== undefined; timer = this.#nextDue(until)) {
      firedAtThisInstant = timer.dueMs > this.#elapsedMs ? 1 : firedAtThisInstant + 1;
      if (firedAtThisInstant > timersPerInstant) {
        throw new StatusManagerError('ERR_INVALID_ARGUMENT', `More than ${timersPerInstant} timers fell due at one instant`);
      }
      this.#elapsedMs = Math.max(this.#elapsedMs, timer.dueMs);
      this.#timers.delete(timer);
      timer.callback();
      await settle();
    }
    this.#elapsedMs = Math.max(this.#elapsedMs, until);
    await settle();
  }

  /** Sets the wall clock, as an operator would. No timer fires, and none falls due earlier or later. */
  set(time: Date | number): void {
    this.#wallOffsetMs = finite('time', Number(time)) - this.#elapsedMs;
  }

  /** Moves the wall clock by `ms`, backwards too. No timer fires, and none falls due earlier or later. */
  jump(ms: number): void {
    this.#wallOffsetMs += finite('ms', ms);
  }

  #nextDue(untilMs: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueMs <= untilMs && (next === undefined || timer.dueMs < next.dueMs)) next = timer;
    }
    return next;
  }
}

function finite(name: string, value: number): number {
  if (!Number.isFinite(value)) throw invalidArgument(name, 'a finite number', value);
  return value;
}
