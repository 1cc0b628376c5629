import type { JsonObject } from '../../../../src/api/json/types.ts';
import type { ResourceTransport } from '../../../../src/client/resources/resource-client.ts';
import type { JsonMembers } from '../../../../src/client/transport/api-answer.ts';
import { ApiError } from '../../../../src/client/transport/api-error.ts';
import type { KubeRequest, KubeStream } from '../../../../src/client/transport/kube-transport.ts';
import { askGuard } from '../../../../src/client/transport/request-guard.ts';
import type { OpenWatch } from '../../chaos/parts/parts-world.ts';
import type { Prng } from '../../chaos/prng.ts';
import type { SimulatedClock } from '../simulated-clock.ts';
import type { ApiWeather } from './api-weather.ts';
import type { SimulatedObjects } from './simulated-objects.ts';
import { failure, refusedConnection, SimulatedStream } from './simulated-stream.ts';

export interface SimulatedTransportParts {
  readonly clock: SimulatedClock;
  readonly objects: SimulatedObjects;
  readonly weather: Readonly<ApiWeather>;
  readonly prng: Prng;
  readonly count: (fault: string) => void;
}

const defaultTimeoutMs = 10_000;
/** A request that has a guard may wait so long in this process before it is sent, for credentials and a connection. */
const longestQueueMs = 200;

/** The way from the agent to the server. What the agent is told says little about what the server did. */
export class SimulatedTransport implements ResourceTransport {
  readonly #parts: SimulatedTransportParts;
  readonly #streams = new Set<SimulatedStream>();
  #underWay = 0;

  constructor(parts: SimulatedTransportParts) {
    this.#parts = parts;
  }

  /** Requests that have not settled. */
  get underWay(): number {
    return this.#underWay;
  }

  get openWatches(): readonly OpenWatch[] {
    return [...this.#streams].map(({ resource, name }) => ({ resource, name }));
  }

  resetAll(): void {
    for (const stream of [...this.#streams]) stream.reset();
  }

  silenceAll(): void {
    for (const stream of this.#streams) stream.silence();
  }

  /** Ends those that are silent with a 410. */
  expireAll(): void {
    for (const stream of [...this.#streams]) stream.expire();
  }

  stream(request: KubeStream): Promise<void> {
    const stream = new SimulatedStream(request, { ...this.#parts, ended: (each) => this.#streams.delete(each) });
    if (request.signal?.aborted !== true) this.#streams.add(stream);
    return stream.done;
  }

  request(request: KubeRequest): Promise<JsonMembers> {
    const { clock, prng } = this.#parts;
    const { signal, timeoutMs = defaultTimeoutMs } = request;
    const { promise, resolve, reject } = Promise.withResolvers<JsonMembers>();
    this.#underWay++;
    let isSettled = false;
    const settle = (finish: () => void): void => {
      if (isSettled) return;
      isSettled = true;
      this.#underWay--;
      cancel();
      signal?.removeEventListener('abort', abort);
      finish();
    };
    const fail = (error: unknown): void => settle(() => reject(error));
    // an aborted request takes its time to settle
    const abort = (): void => {
      clock.schedule(() => fail(new ApiError({ reason: 'Aborted', message: 'aborted' })), prng.between(0, 100));
    };
    const cancel = clock.schedule(() => fail(new ApiError({ reason: 'Timeout', message: 'no answer in time' })), timeoutMs);
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
    // encoded now: later changes to the body do not reach the server
    const sent = request.body === undefined ? request : { ...request, body: JSON.parse(JSON.stringify(request.body)) };
    const send = (): void => {
      if (isSettled) return;
      try {
        askGuard(request.guard);
      } catch (refusal) {
        fail(refusal);
        return;
      }
      this.#send(sent, fail, (answer) => settle(() => resolve(answer)));
    };
    if (request.guard === undefined) send();
    else clock.schedule(send, prng.between(0, longestQueueMs));
    return promise;
  }

  /** The request leaves the process. */
  #send(sent: KubeRequest, fail: (error: unknown) => void, succeed: (answer: JsonObject) => void): void {
    const { clock, prng, weather, count } = this.#parts;
    const resetMaybe = (): void => {
      const broken = new ApiError({ reason: 'Network', message: 'connection reset' });
      if (prng.chance(0.5)) clock.schedule(() => fail(broken), prng.between(1, 3000));
    };
    if (prng.chance(weather.loss / 2)) {
      count('request lost');
      resetMaybe();
      return;
    }
    const straggles = prng.chance(weather.straggling);
    if (straggles) {
      count('request straggles');
      resetMaybe();
    }
    clock.schedule(
      () => {
        const finish = this.#arrive(sent, fail, succeed);
        if (prng.chance(weather.loss / 2)) {
          count('answer lost');
          resetMaybe();
        } else clock.schedule(finish, prng.between(1, weather.latencyMs));
      },
      straggles ? prng.between(2000, 40_000) : prng.between(1, weather.latencyMs),
    );
  }

  /** Runs the request on the server. Returns what its answer does. */
  #arrive(request: KubeRequest, fail: (error: unknown) => void, succeed: (answer: JsonObject) => void): () => void {
    const { prng, weather, objects, count } = this.#parts;
    const refused = (error: ApiError): (() => void) => {
      count(`answer ${error.status ?? 'none'}`);
      return () => fail(error);
    };
    if (weather.server === 'down') return refused(refusedConnection());
    if (weather.server === 'throttling' && prng.chance(0.6))
      return refused(failure(429, 'TooManyRequests', prng.chance(0.5) ? 1000 * prng.int(1, 4) : undefined));
    const fails = weather.server === 'failing' && prng.chance(0.5);
    const error = failure(prng.pick([500, 502, 503, 504, 401, 403, 409]) ?? 500, 'Simulated');
    const takesEffect = !fails || prng.chance(0.4);
    try {
      const answer = takesEffect ? objects.answer(request) : undefined;
      return fails || answer === undefined ? refused(error) : () => succeed(answer);
    } catch (refusal) {
      if (!(refusal instanceof ApiError)) throw refusal;
      return () => fail(refusal);
    }
  }
}
