import type { Clock } from '../../base/clock.ts';
import { onAbort } from '../../base/concurrency/aborts.ts';
import { RateLimiter, type RateLimiterOptions } from '../../base/concurrency/rate-limiter.ts';
import type { ResourceTransport } from '../../client/resources/resource-client.ts';
import type { JsonMembers } from '../../client/transport/api-answer.ts';
import { ApiError } from '../../client/transport/api-error.ts';
import type { KubeRequest, KubeStream } from '../../client/transport/kube-transport.ts';

/**
 * Lets so many requests and watches of one agent leave in a second, as the kubelet's client does. Each lane is a transport of its
 * own; of the lanes that wait each has its turn, so that no part of the agent waits for all requests of another one.
 */
export class RequestLanes {
  readonly #transport: ResourceTransport;
  readonly #limiter: RateLimiter;
  /** Those that wait, by lane: the lane whose turn is next is the first. */
  readonly #waiting = new Set<Set<() => void>>();

  constructor(transport: ResourceTransport, limit: RateLimiterOptions, clock: Clock) {
    this.#transport = transport;
    this.#limiter = new RateLimiter(limit, clock, () => this.#serve());
  }

  /** One more lane. Where so many wait in it already, one more fails with an `ApiError`. */
  lane(mostWaiting = Number.POSITIVE_INFINITY): ResourceTransport {
    const waiting = new Set<() => void>();
    const inTurn = <T>(request: KubeRequest, send: () => Promise<T>): Promise<T> => {
      if (waiting.size < mostWaiting) return this.#inTurn(waiting, request.signal, send);
      const message = `${request.method} ${request.path}: ${waiting.size} requests wait for their turn already`;
      return Promise.reject(new ApiError({ reason: 'Timeout', message }));
    };
    return {
      request: (request: KubeRequest): Promise<JsonMembers> => inTurn(request, () => this.#transport.request(request)),
      stream: (stream: KubeStream): Promise<void> => inTurn(stream, () => this.#transport.stream(stream)),
    };
  }

  /** Ends every wait: what has waited goes to the transport. */
  close(): void {
    for (const lane of this.#waiting) for (const go of lane) go();
    this.#limiter.release();
  }

  /** What is aborted while it waits goes to the transport at once, which says so in its own words, and takes no turn. */
  async #inTurn<T>(lane: Set<() => void>, signal: AbortSignal | undefined, send: () => Promise<T>): Promise<T> {
    if (signal?.aborted || (this.#waiting.size === 0 && this.#limiter.tryTake())) return send();
    const { promise, resolve } = Promise.withResolvers<void>();
    const go = (): void => {
      lane.delete(go);
      if (lane.size === 0) this.#waiting.delete(lane);
      resolve();
    };
    lane.add(go);
    this.#waiting.add(lane);
    const leave = onAbort(signal, go);
    await promise;
    leave();
    return send();
  }

  #serve(): void {
    for (const lane of this.#waiting) {
      if (!this.#limiter.tryTake()) return;
      for (const go of lane) {
        go();
        break;
      }
      // a lane that still waits has its next turn after all others
      if (this.#waiting.delete(lane)) this.#waiting.add(lane);
    }
  }
}
