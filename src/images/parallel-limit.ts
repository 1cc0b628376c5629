/** Lets at most so many calls run at once; the others wait in order. */
export class ParallelLimit {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Makes the call when there is room. Rejects with the signal's reason when it aborts before. */
  async run<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#enter(signal);
    try {
      return await call();
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#running < this.#most) {
      this.#running += 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const enter = (): void => {
      signal.removeEventListener('abort', giveUp);
      this.#running += 1;
      resolve();
    };
    const giveUp = (): void => {
      this.#waiting.splice(this.#waiting.indexOf(enter), 1);
      reject(signal.reason);
    };
    this.#waiting.push(enter);
    signal.addEventListener('abort', giveUp, { once: true });
    await promise;
  }
}
