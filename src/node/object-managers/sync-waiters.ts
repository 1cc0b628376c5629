import type { Clock } from '../../base/clock.ts';

/** Those who wait for a full list, each with a limit of its own. */
export class SyncWaiters {
  readonly #clock: Clock;
  readonly #waiters = new Set<{ readonly succeed: () => void; readonly fail: (reason: Error) => void }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Resolves to true after the next `succeed()`, and to false when that takes longer. Rejects at the next `fail()`. It resolves
   * a turn after `succeed()`: by then the reflector has opened its watch, as the kubelet's has when a read finds the list.
   */
  wait(limitMs: number): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    let cancel = (): void => {};
    const later = (hasSynced: boolean, delayMs: number): void => {
      cancel();
      const settle = (): void => {
        this.#waiters.delete(waiter);
        resolve(hasSynced);
      };
      cancel = this.#clock.setTimer(settle, delayMs, { keepAlive: true });
    };
    const waiter = {
      succeed: () => later(true, 0),
      fail: (reason: Error) => {
        cancel();
        this.#waiters.delete(waiter);
        reject(reason);
      },
    };
    this.#waiters.add(waiter);
    later(false, limitMs);
    return promise;
  }

  succeed(): void {
    for (const waiter of [...this.#waiters]) waiter.succeed();
  }

  /** The error is made only where somebody waits: it costs much more than the rest of an end. */
  fail(reason: () => Error): void {
    for (const waiter of [...this.#waiters]) waiter.fail(reason());
  }
}
