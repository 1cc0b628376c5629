import type { Clock } from '../seams/clock.ts';

/** Those who wait for a full list, each with a limit of its own. */
export class SyncWaiters {
  readonly #clock: Clock;
  readonly #waiters = new Set<{ readonly succeed: () => void; readonly fail: (reason: Error) => void }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves to true at the next `succeed()`, and to false when that takes longer. Rejects at the next `fail()`. */
  wait(limitMs: number): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const leave = (): void => {
      cancel();
      this.#waiters.delete(waiter);
    };
    const cancel = this.#clock.setTimer(
      () => {
        leave();
        resolve(false);
      },
      limitMs,
      { keepAlive: true },
    );
    const waiter = {
      succeed: () => {
        leave();
        resolve(true);
      },
      fail: (reason: Error) => {
        leave();
        reject(reason);
      },
    };
    this.#waiters.add(waiter);
    return promise;
  }

  succeed(): void {
    for (const waiter of [...this.#waiters]) waiter.succeed();
  }

  fail(reason: Error): void {
    for (const waiter of [...this.#waiters]) waiter.fail(reason);
  }
}
