import { onAbort } from '../../../../src/base/concurrency/aborts.ts';
import type { ResourceTransport } from '../../../../src/client/resources/resource-client.ts';
import type { JsonMembers } from '../../../../src/client/transport/api-answer.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import type { KubeRequest, KubeStream } from '../../../../src/client/transport/kube-transport.ts';
import type { Prng } from '../../chaos/prng.ts';
import type { ApiWeather } from '../parts/api-weather.ts';
import type { SimulatedObjects } from '../parts/simulated-objects.ts';
import { SimulatedTransport } from '../parts/simulated-transport.ts';
import type { SimulatedClock } from '../simulated-clock.ts';
import type { SentRequest } from './fleet-objects.ts';
import type { MemberProcess } from './member-process.ts';

/** The way of one member to the server. */
export interface MemberWeather extends ApiWeather {
  /** How long a request waits in the process before it is written, at most. */
  queueMs: number;
  /** Nothing gets through, and nobody hears of it. */
  isCut: boolean;
}

export interface MemberNetworkParts {
  readonly clock: SimulatedClock;
  readonly process: MemberProcess;
  readonly objects: SimulatedObjects;
  readonly weather: Readonly<MemberWeather>;
  readonly prng: Prng;
  readonly count: (fault: string) => void;
}

const defaultTimeoutMs = 10_000;
const sentAgainMs = 250;

/**
 * The transport of one process: a request waits for its turn first, its guard is asked when it is written, and what comes back waits
 * while the process is paused.
 */
export class MemberNetwork implements ResourceTransport {
  readonly #parts: MemberNetworkParts;
  readonly #wire: SimulatedTransport;
  #underWay = 0;

  constructor(parts: MemberNetworkParts) {
    this.#parts = parts;
    this.#wire = new SimulatedTransport(parts);
  }

  /** Requests that have not settled, and watches that are open. */
  get open(): number {
    return this.#underWay + this.#wire.openWatches.length;
  }

  resetAll(): void {
    this.#wire.resetAll();
  }

  silenceAll(): void {
    this.#wire.silenceAll();
  }

  stream(request: KubeStream): Promise<void> {
    const { process } = this.#parts;
    const broken = new AbortController();
    const { promise, reject } = Promise.withResolvers<void>();
    const take = (chunk: Buffer): void => {
      try {
        request.onChunk(chunk);
      } catch (error) {
        // what a reader throws ends the stream
        reject(error);
        broken.abort();
      }
    };
    const onChunk = this.#throughCuts((chunk) => process.run(() => take(chunk)));
    const signal = request.signal === undefined ? broken.signal : AbortSignal.any([request.signal, broken.signal]);
    return Promise.race([promise, this.#held(this.#wire.stream({ ...request, signal, onChunk }))]);
  }

  request(request: KubeRequest): Promise<JsonMembers> {
    this.#underWay++;
    return this.#inTurn(request).finally(() => {
      this.#underWay--;
    });
  }

  async #inTurn(request: KubeRequest): Promise<JsonMembers> {
    const { prng, weather } = this.#parts;
    const { signal, timeoutMs = defaultTimeoutMs } = request;
    const waitMs = weather.queueMs === 0 ? 0 : prng.between(0, weather.queueMs);
    if (waitMs > 0) await this.#wait(Math.min(waitMs, timeoutMs), signal);
    if (signal?.aborted) throw new ApiError({ reason: 'Aborted', message: 'aborted' });
    if (waitMs >= timeoutMs) throw new ApiError({ reason: 'Timeout', message: 'no turn in time' });
    guardOf(request)?.();
    return this.#held(this.#sent({ ...request, timeoutMs: timeoutMs - waitMs }));
  }

  /** For a turn. An abort ends it. */
  #wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#parts.process.clock.setTimer(resolve, ms);
    const leave = onAbort(signal, () => {
      cancel();
      resolve();
    });
    return promise.finally(leave);
  }

  /** What is sent while the network is cut comes once it works again, in order: TCP loses nothing in between. */
  #throughCuts(deliver: (chunk: Buffer) => void): (chunk: Buffer) => void {
    const { clock, weather } = this.#parts;
    const waiting: Buffer[] = [];
    const flush = (): void => {
      if (weather.isCut) clock.schedule(flush, sentAgainMs);
      else for (const chunk of waiting.splice(0)) deliver(chunk);
    };
    return (chunk) => {
      if (waiting.length === 0 && !weather.isCut) {
        deliver(chunk);
        return;
      }
      if (waiting.length === 0) clock.schedule(flush, sentAgainMs);
      waiting.push(chunk);
    };
  }

  #sent(request: KubeRequest): Promise<JsonMembers> {
    const { clock, weather, count } = this.#parts;
    const sent: SentRequest = { ...request, sentAtMs: clock.elapsedMs };
    if (!weather.isCut) return this.#wire.request(sent);
    count('request cut off');
    const { promise, reject } = Promise.withResolvers<JsonMembers>();
    const { signal, timeoutMs = defaultTimeoutMs } = request;
    const timeout = (): void => reject(new ApiError({ reason: 'Timeout', message: 'no answer in time' }));
    const abort = (): void => reject(new ApiError({ reason: 'Aborted', message: 'aborted' }));
    const cancel = clock.schedule(timeout, timeoutMs);
    signal?.addEventListener('abort', abort);
    return promise.finally(() => {
      cancel();
      signal?.removeEventListener('abort', abort);
    });
  }

  /** Settles as the promise does, in a moment in which the process runs. One that is dead never hears of it. */
  #held<T>(promise: Promise<T>): Promise<T> {
    const { process } = this.#parts;
    const { promise: held, resolve, reject } = Promise.withResolvers<T>();
    promise.then(
      (value) => process.run(() => resolve(value)),
      (error) => process.run(() => reject(error)),
    );
    return held;
  }
}

function guardOf(request: KubeRequest): (() => void) | undefined {
  return (request as { readonly guard?: () => void }).guard;
}
