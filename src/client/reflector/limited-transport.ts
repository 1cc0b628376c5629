import type { CancelTimer, Clock } from '../../base/clock.ts';
import { onAbort } from '../../base/concurrency/aborts.ts';
import { callGuarded } from '../../base/guard.ts';
import type { ResourceTransport } from '../resources/resource-client.ts';
import type { JsonMembers } from '../transport/api-answer.ts';
import { ApiError } from '../transport/api-error.ts';
import type { KubeRequest, KubeStream } from '../transport/kube-transport.ts';

/** How long a call may take to settle after its signal has aborted. */
const abortWaitsMs = 1000;

/**
 * A transport that heeds the signals of its calls: one that has not settled a second after its abort is given up, and what
 * it brings after that is ignored. The silence of a stream is limited by the transport within.
 */
export class LimitedTransport implements ResourceTransport {
  readonly #transport: ResourceTransport;
  readonly #clock: Clock;

  constructor(transport: ResourceTransport, clock: Clock) {
    this.#transport = transport;
    this.#clock = clock;
  }

  request(request: KubeRequest): Promise<JsonMembers> {
    return new AbortableCall<JsonMembers>(this.#clock, request).run(() => this.#transport.request(request));
  }

  stream(stream: KubeStream): Promise<void> {
    const call = new AbortableCall<void>(this.#clock, stream);
    const onChunk = (chunk: Buffer): void => {
      if (!call.isOver) stream.onChunk(chunk);
    };
    return call.run(() => this.#transport.stream({ ...stream, onChunk }));
  }
}

/** One call. It has a timer only after its abort. */
class AbortableCall<T> {
  readonly #clock: Clock;
  readonly #label: string;
  readonly #signal: AbortSignal | undefined;
  readonly #answer = Promise.withResolvers<T>();
  #isOver = false;
  #cancelTimer: CancelTimer = () => {};

  constructor(clock: Clock, { method, path, signal }: KubeRequest) {
    this.#clock = clock;
    this.#label = `${method} ${path}`;
    this.#signal = signal;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Resolves and rejects as the call does, or rejects when the call is given up. */
  async run(call: () => Promise<T>): Promise<T> {
    const leave = onAbort(this.#signal, () => this.#onAbort());
    try {
      call().then(this.#answer.resolve, this.#answer.reject);
      return await this.#answer.promise;
    } finally {
      this.#isOver = true;
      this.#cancelTimer();
      leave();
    }
  }

  #onAbort(): void {
    const giveUp = (): void => this.#giveUp(`has not ended within ${abortWaitsMs} ms of its abort`);
    const cancel = callGuarded(() => this.#clock.setTimer(giveUp, abortWaitsMs, { keepAlive: true }), giveUp);
    if (cancel !== undefined) this.#cancelTimer = cancel;
  }

  #giveUp(what: string): void {
    this.#isOver = true;
    this.#answer.reject(new ApiError({ reason: 'Aborted', message: `${this.#label} ${what}` }));
  }
}
