import { type CancelTimer, type Clock, systemClock, type TimerOptions } from '../../../src/base/clock.ts';

/** The machine's timers under a wall clock that a test sets, forwards and back. */
export class JumpingClock implements Clock {
  #offsetMs = 0;
  #standsAt: number | undefined;

  jump(ms: number): void {
    this.#offsetMs += ms;
  }

  now(): number {
    return this.#standsAt ?? systemClock.now() + this.#offsetMs;
  }

  elapsed(): number {
    return systemClock.elapsed();
  }

  setTimer(callback: () => void, delayMs: number, options?: TimerOptions): CancelTimer {
    return systemClock.setTimer(callback, delayMs, options);
  }

  /** Calls `act` with the time, which stands still for it. */
  readonly atOneInstant = <T>(act: (nowMs: number) => T): T => {
    this.#standsAt = this.now();
    try {
      return act(this.#standsAt);
    } finally {
      this.#standsAt = undefined;
    }
  };
}
