import { type CancelTimer, type Clock, systemClock } from '../clock.ts';
import { callGuarded } from '../guard.ts';
import type { Logger } from '../logging/logger.ts';
import { onAbort } from './aborts.ts';
import { LateMap } from './late-collections.ts';

export interface WakeableWaitOptions {
  readonly clock: Clock;
  /** Told where the clock sets no timer. */
  readonly logger?: Logger;
  /** True: a wait keeps the process alive. Default false. */
  readonly keepAlive?: boolean;
}

/** The waits of one loop, which others may end early. */
export class WakeableWait {
  readonly #options: WakeableWaitOptions;
  #end: (() => void) | undefined;
  #isWoken = false;
  #isClosed = false;

  constructor(options: WakeableWaitOptions) {
    this.#options = options;
  }

  /**
   * Resolves after `ms`, or when the signal aborts; at once where it was woken since the last wait, or is closed. Only one caller
   * may wait.
   */
  wait(ms: number, signal?: AbortSignal): Promise<void> {
    if (this.#isWoken || this.#isClosed) {
      this.#isWoken = false;
      return Promise.resolve();
    }
    const { clock, logger, keepAlive = false } = this.#options;
    const { promise, resolve } = Promise.withResolvers<void>();
    let cancel: CancelTimer = () => {};
    let leave = (): void => {};
    const end = (): void => {
      this.#end = undefined;
      cancel();
      leave();
      resolve();
    };
    this.#end = end;
    const set = (by: Clock): CancelTimer => by.setTimer(end, ms, { keepAlive });
    const warn = (err: unknown): void =>
      logger?.error({ err }, 'the clock set no timer; the machine counts the time of this wait');
    cancel = callGuarded(() => set(clock), warn) ?? set(systemClock);
    leave = onAbort(signal, end);
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

/** Timers by key, at most one for each key. */
export class KeyedTimers<Key> {
  readonly #clock: Clock;
  readonly #timers = new LateMap<Key, CancelTimer>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `callback` once, `delayMs` from now. A timer of the same key that has not fired is cancelled. */
  set(key: Key, delayMs: number, callback: () => void): void {
    this.cancel(key);
    const cancel = this.#clock.setTimer(() => {
      this.#timers.delete(key);
      callback();
    }, delayMs);
    this.#timers.set(key, cancel);
  }

  cancel(key: Key): void {
    this.#timers.get(key)?.();
    this.#timers.delete(key);
  }

  cancelAll(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }
}
