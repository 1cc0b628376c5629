import { ApiError } from '../client/transport/api-error.ts';
import type { CancelTimer, Clock } from '../seams/clock.ts';

/** Ends a streamed list that is silent for too long before its end. */
export class StreamPatience {
  readonly #controller = new AbortController();
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #stop: AbortSignal;
  #heardAt: number;
  #cancelTimer: CancelTimer;
  #hasExpired = false;

  /** `stop` ends the stream, too. */
  constructor(clock: Clock, limitMs: number, stop: AbortSignal) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#stop = stop;
    this.#heardAt = clock.now();
    this.#cancelTimer = clock.setTimer(this.#onTimer, limitMs);
    stop.addEventListener('abort', this.#onStop);
    if (stop.aborted) this.#onStop();
  }

  /** The signal of the stream. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What ended the stream, if this has. */
  failure(path: string): ApiError | undefined {
    if (!this.#hasExpired) return undefined;
    return new ApiError({ reason: 'Timeout', message: `GET ${path}: the streamed list was silent for ${this.#limitMs} ms` });
  }

  heard(): void {
    this.#heardAt = this.#clock.now();
  }

  /** The list is complete: its silence is limited no more. */
  rest(): void {
    this.#cancelTimer();
  }

  /** The stream has ended. */
  end(): void {
    this.#cancelTimer();
    this.#stop.removeEventListener('abort', this.#onStop);
  }

  readonly #onStop = (): void => this.#controller.abort(this.#stop.reason);

  readonly #onTimer = (): void => {
    const leftMs = this.#heardAt + this.#limitMs - this.#clock.now();
    // a clock that was set back must not make the wait longer than the limit
    if (leftMs > 0) {
      this.#cancelTimer = this.#clock.setTimer(this.#onTimer, Math.min(leftMs, this.#limitMs));
      return;
    }
    this.#hasExpired = true;
    this.#controller.abort();
  };
}
