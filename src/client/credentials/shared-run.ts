import type { CancelTimer, Clock } from '../../base/clock.ts';
import { CredentialsFailure, type Waiter } from './credentials.ts';

export interface SharedRunOptions<T> {
  readonly clock: Clock;
  /** How errors call what is run, with its article: `the credential plugin "aws"`. */
  readonly name: string;
  /** Begins the work. The signal aborts when the result is no longer wanted. */
  readonly start: (signal: AbortSignal) => Promise<T>;
  /** Told when the work was ended before it had a result. */
  readonly onEnded?: ((reason: CredentialsFailure) => void) | undefined;
}

/**
 * Work that any number of requests wait for together. It is over when its result is known, when the last of the requests
 * has left, when the longest of their limits has passed, or when `end` is called.
 */
export class SharedRun<T> {
  readonly #options: SharedRunOptions<T>;
  readonly #result = Promise.withResolvers<T>();
  readonly #stop = new AbortController();
  #isOver = false;
  #waiting = 0;
  #limitMs = 0;
  #cancelTimer: CancelTimer | undefined;

  constructor(options: SharedRunOptions<T>) {
    this.#options = options;
    // every request may have left before it fails
    this.#result.promise.catch(() => {});
    void this.#run();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The result, for one more request. Rejects with a {@link CredentialsFailure}. */
  join({ left, limitMs }: Waiter): Promise<T> {
    this.#waiting += 1;
    left.then(this.#leave, this.#leave);
    if (limitMs > this.#limitMs && !this.#isOver) this.#startTimer(limitMs);
    return this.#result.promise;
  }

  /** Ends the work: the requests that wait are rejected with the reason. Does nothing once it is over. */
  end(reason: CredentialsFailure): void {
    if (this.#isOver) return;
    this.#settle();
    this.#result.reject(reason);
    this.#stop.abort(reason);
    this.#options.onEnded?.(reason);
  }

  async #run(): Promise<void> {
    try {
      this.#result.resolve(await this.#options.start(this.#stop.signal));
    } catch (error) {
      this.#result.reject(error);
    }
    this.#settle();
  }

  #settle(): void {
    this.#isOver = true;
    this.#cancelTimer?.();
  }

  /** Only a longer limit starts the timer again: requests with the same limit must not keep a run alive that hangs. */
  #startTimer(limitMs: number): void {
    this.#limitMs = limitMs;
    this.#cancelTimer?.();
    this.#cancelTimer = this.#options.clock.setTimer(() => {
      this.end(new CredentialsFailure('Timeout', `Nothing came from ${this.#options.name} within ${limitMs} ms`));
    }, limitMs);
  }

  readonly #leave = (): void => {
    this.#waiting -= 1;
    if (this.#waiting === 0) this.end(new CredentialsFailure('Aborted', `No request waits for ${this.#options.name} any longer`));
  };
}
