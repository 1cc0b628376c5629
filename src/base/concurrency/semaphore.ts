import { onAbort } from './aborts.ts';
import { FifoSet } from './fifo-set.ts';

/** Lets at most so many calls run at once; the others wait in the order in which they came. */
export class Semaphore {
  readonly #most: number;
  readonly #waiting = new FifoSet<() => void>();
  #running = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** True where a call that came now would have to wait. */
  get isFull(): boolean {
    return this.#running >= this.#most;
  }

  /** Makes the call when there is room. Rejects with the signal's reason when that aborts before. */
  async run<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#enter(signal);
    try {
      return await call();
    } finally {
      this.#running -= 1;
      this.#waiting.take()?.();
    }
  }

  async #enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.isFull) {
      this.#running += 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const enter = (): void => {
      this.#running += 1;
      resolve();
    };
    this.#waiting.add(enter);
    const leave = onAbort(signal, () => {
      this.#waiting.delete(enter);
      reject(signal.reason);
    });
    await promise.finally(leave);
  }
}
