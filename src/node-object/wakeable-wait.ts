import { type CancelTimer, type Clock, systemClock } from '../seams/clock.ts';
import { callGuarded } from '../seams/guard.ts';
import type { Logger } from '../seams/logger.ts';

/** The waits of one loop, which others may end early. */
export class WakeableWait {
  readonly #clock: Clock;
  readonly #logger: Logger;
  #end: (() => void) | undefined;
  #isWoken = false;
  #isClosed = false;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Resolves after `ms`; at once where it was woken since the last wait, or is closed. Only one caller may wait. */
  wait(ms: number): Promise<void> {
    if (this.#isWoken || this.#isClosed) {
      this.#isWoken = false;
      return Promise.resolve();
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    let cancel: CancelTimer = () => {};
    this.#end = () => {
      this.#end = undefined;
      cancel();
      resolve();
    };
    const end = this.#end;
    const warn = (err: unknown): void =>
      this.#logger.error({ err }, 'the clock set no timer; the machine counts the time of this wait');
    cancel = callGuarded(() => this.#clock.setTimer(end, ms), warn) ?? systemClock.setTimer(end, ms);
    return promise;
  }

  /** Ends the wait, or the next one where there is none. */
  wake(): void {
    if (this.#end === undefined) this.#isWoken = true;
    else this.#end();
  }

  /** Ends the wait and every later one: no timer is left. */
  close(): void {
    this.#isClosed = true;
    this.#end?.();
  }
}
