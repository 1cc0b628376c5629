import { longestTimerMs } from '../checks/options.ts';
import type { ResourceTransport } from '../client/resource-client.ts';
import type { JsonMembers } from '../client/transport/api-answer.ts';
import { ApiError } from '../client/transport/api-error.ts';
import type { KubeRequest, KubeStream } from '../client/transport/kube-transport.ts';
import type { CancelTimer, Clock } from '../seams/clock.ts';
import { callGuarded, ignoreFailure } from '../seams/guard.ts';

/** How long a call may take to settle after its signal has aborted. */
const abortWaitsMs = 1000;
/** A transport counts the silence from when the request is sent, which may take the time of a request. */
const silenceMarginMs = 15_000;

/**
 * A transport of which every promise settles. A call that has not settled a second after its signal has aborted is given up,
 * and so is a stream that is silent for `idleTimeoutMs` and a margin. What a call brings after that is ignored.
 */
export class LimitedTransport implements ResourceTransport {
  readonly #transport: ResourceTransport;
  readonly #clock: Clock;

  constructor(transport: ResourceTransport, clock: Clock) {
    this.#transport = transport;
    this.#clock = clock;
  }

  request(request: KubeRequest): Promise<JsonMembers> {
    return new LimitedCall<JsonMembers>(this.#clock, request).run(() => this.#transport.request(request));
  }

  stream(stream: KubeStream): Promise<void> {
    const ending = new AbortController();
    const call = new LimitedCall<void>(this.#clock, stream, ending);
    const onChunk = (chunk: Buffer): void => {
      if (call.isOver) return;
      call.heard();
      stream.onChunk(chunk);
    };
    return call.run(() => this.#transport.stream({ ...stream, signal: ending.signal, onChunk }), stream.idleTimeoutMs);
  }
}

/** One call, with one timer at most. */
class LimitedCall<T> {
  readonly #clock: Clock;
  readonly #label: string;
  readonly #signal: AbortSignal | undefined;
  /** The end of a stream, which has a signal of its own. */
  readonly #ending: AbortController | undefined;
  readonly #answer = Promise.withResolvers<T>();
  #isOver = false;
  #heardAt = 0;
  #cancelTimer: CancelTimer = () => {};

  constructor(clock: Clock, { method, path, signal }: KubeRequest, ending?: AbortController) {
    this.#clock = clock;
    this.#label = `${method} ${path}`;
    this.#signal = signal;
    this.#ending = ending;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  heard(): void {
    this.#heardAt = this.#clock.now();
  }

  /** Resolves and rejects as the call does, or rejects when the call is given up. */
  async run(call: () => Promise<T>, idleTimeoutMs?: number): Promise<T> {
    if (idleTimeoutMs !== undefined) this.#limitSilence(Math.min(idleTimeoutMs + silenceMarginMs, longestTimerMs));
    this.#signal?.addEventListener('abort', this.#onAbort);
    if (this.#signal?.aborted) this.#onAbort();
    try {
      call().then(this.#answer.resolve, this.#answer.reject);
      return await this.#answer.promise;
    } finally {
      this.#isOver = true;
      this.#cancelTimer();
      this.#signal?.removeEventListener('abort', this.#onAbort);
    }
  }

  readonly #onAbort = (): void => {
    this.#cancelTimer();
    this.#ending?.abort(this.#signal?.reason);
    const giveUp = (): void => this.#giveUp('Aborted', `has not ended within ${abortWaitsMs} ms of its abort`);
    const cancel = callGuarded(() => this.#clock.setTimer(giveUp, abortWaitsMs, { keepAlive: true }), giveUp);
    if (cancel !== undefined) this.#cancelTimer = cancel;
  };

  #limitSilence(limitMs: number): void {
    const onTimer = (): void => {
      const leftMs = callGuarded(() => this.#heardAt + limitMs - this.#clock.now(), ignoreFailure) ?? 0;
      // a clock that was set back must not make the wait longer than the limit
      if (leftMs > 0) set(Math.min(leftMs, limitMs));
      else silent();
    };
    const silent = (): void => {
      this.#giveUp('Timeout', `was silent for ${limitMs} ms`);
      this.#ending?.abort();
    };
    const set = (delayMs: number): void => {
      const cancel = callGuarded(() => this.#clock.setTimer(onTimer, delayMs), silent);
      if (cancel !== undefined) this.#cancelTimer = cancel;
    };
    this.heard();
    set(limitMs);
  }

  #giveUp(reason: 'Aborted' | 'Timeout', what: string): void {
    this.#isOver = true;
    this.#answer.reject(new ApiError({ reason, message: `${this.#label} ${what}` }));
  }
}
