import { type CancelTimer, type Clock, systemClock, type TimerOptions } from '../../../../src/base/clock.ts';

/** The machine's clock, so many times as fast: backoffs, silences and idle times pass within seconds over real sockets. */
export class HastyClock implements Clock {
  readonly #speed: number;
  readonly #startedAt = systemClock.now();
  readonly #pending = new Set<CancelTimer>();
  #offsetMs = 0;

  constructor(speed: number) {
    this.#speed = speed;
  }

  /** Timers that have neither fired nor been cancelled. */
  get pendingTimers(): number {
    return this.#pending.size;
  }

  now(): number {
    return this.#startedAt + (systemClock.now() - this.#startedAt) * this.#speed + this.#offsetMs;
  }

  elapsed(): number {
    return systemClock.elapsed() * this.#speed;
  }

  setTimer(callback: () => void, delayMs: number, options?: TimerOptions): CancelTimer {
    const fire = (): void => {
      this.#pending.delete(end);
      callback();
    };
    const cancel = systemClock.setTimer(fire, delayMs / this.#speed, options);
    const end = (): void => {
      this.#pending.delete(end);
      cancel();
    };
    this.#pending.add(end);
    return end;
  }

  /** Moves the wall clock alone. */
  jump(ms: number): void {
    this.#offsetMs += ms;
  }
}
