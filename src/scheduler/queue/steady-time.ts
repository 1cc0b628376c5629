import type { CancelTimer, SteadyClock, TimerOptions } from '../../base/clock.ts';

/**
 * The time as the wall clock showed it in the beginning, and what has passed since. It looks like a time of the wall clock, so that it
 * can be shown, but setting that clock does not move it: a pod's age and the end of its back-off are what they are.
 */
export interface SteadyTime {
  /** Milliseconds since 1970. Never less than before. */
  time(): number;
  /** As that of a clock. */
  setTimer(callback: () => void, delayMs: number, options?: TimerOptions): CancelTimer;
}

export function steadyTime(clock: SteadyClock): SteadyTime {
  const start = clock.now() - clock.elapsed();
  return {
    time: () => start + clock.elapsed(),
    setTimer: (callback, delayMs, options) => clock.setTimer(callback, delayMs, options),
  };
}
