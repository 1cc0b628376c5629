import type { CancelTimer, SteadyClock } from '../../base/clock.ts';
import { LinkedAbort } from '../../base/concurrency/aborts.ts';
import { ApiError } from '../transport/api-error.ts';

/** Ends a streamed list that is silent for too long before its end. */
export class StreamPatience {
  readonly #abort: LinkedAbort;
  readonly #clock: SteadyClock;
  readonly #limitMs: number;
  #heardAt: number;
  #cancelTimer: CancelTimer;
  #hasExpired = false;

  /** `stop` ends the stream, too. */
  constructor(clock: SteadyClock, limitMs: number, stop: AbortSignal) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#abort = new LinkedAbort(stop);
    this.#heardAt = clock.elapsed();
    this.#cancelTimer = clock.setTimer(this.#onTimer, limitMs);
  }

  /** The signal of the stream. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** What ended the stream, if this has. */
  failure(path: string): ApiError | undefined {
    if (!this.#hasExpired) return undefined;
    return new ApiError({ reason: 'Timeout', message: `GET ${path}: the streamed list was silent for ${this.#limitMs} ms` });
  }

  heard(): void {
    this.#heardAt = this.#clock.elapsed();
  }

  /** The list is complete: its silence is limited no more. */
  rest(): void {
    this.#cancelTimer();
  }

  /** The stream has ended. */
  end(): void {
    this.#cancelTimer();
    this.#abort.release();
  }

  readonly #onTimer = (): void => {
    const leftMs = this.#heardAt + this.#limitMs - this.#clock.elapsed();
    if (leftMs > 0) {
      this.#cancelTimer = this.#clock.setTimer(this.#onTimer, leftMs);
      return;
    }
    this.#hasExpired = true;
    this.#abort.abort();
  };
}
