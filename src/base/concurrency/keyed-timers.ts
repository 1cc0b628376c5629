import type { CancelTimer, Clock } from '../clock.ts';

/** Timers by key, at most one for each key. */
export class KeyedTimers<Key> {
  readonly #clock: Clock;
  readonly #timers = new Map<Key, CancelTimer>();

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
