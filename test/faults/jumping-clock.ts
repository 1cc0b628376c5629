import { type CancelTimer, type Clock, systemClock, type TimerOptions } from '../../src/seams/clock.ts';

/** The machine's timers under a wall clock that somebody sets, forwards and back. */
export class JumpingClock implements Clock {
  #offsetMs = 0;

  jump(ms: number): void {
    this.#offsetMs += ms;
  }

  now(): number {
    return systemClock.now() + this.#offsetMs;
  }

  setTimer(callback: () => void, delayMs: number, options?: TimerOptions): CancelTimer {
    return systemClock.setTimer(callback, delayMs, options);
  }
}
