import { ApiError, type KubeRequest, type KubeStream } from '../../../../src/index.ts';
import { ObjectServer, type ServedWatch } from '../../../support/object-server.ts';
import type { Prng } from '../../chaos/prng.ts';
import { ProcessClock, type SimulatedClock } from '../simulated-clock.ts';
import { failureIn, fairWeather, type Weather } from './weather.ts';

/** As the transport's default. */
const requestTimeoutMs = 10_000;
const bookmarkEveryMs = 60_000;

/**
 * A server, and the way to it in some weather: requests, answers and events take their time, fail, or never come. What was
 * asked first may be answered last.
 */
export class SimulatedWire {
  readonly server: ObjectServer;
  readonly #clock: SimulatedClock;
  readonly #prng: Prng;
  readonly #weather: () => Readonly<Weather>;
  /** When the last event of a watch arrives: events stay in order. */
  readonly #lastArrival = new WeakMap<ServedWatch, number>();
  #requestsUnderWay = 0;

  constructor(clock: SimulatedClock, prng: Prng, weather: () => Readonly<Weather> | undefined) {
    this.#clock = clock;
    this.#prng = prng;
    this.#weather = () => weather() ?? fairWeather;
    this.server = new ObjectServer({
      clock: new ProcessClock(clock, 0),
      cachedVersion: () => this.server.version - prng.int(0, this.#weather().lag),
      deliver: (watch, send) => this.#deliver(watch, send),
    });
    this.#sendBookmarks();
  }

  get requestsUnderWay(): number {
    return this.#requestsUnderWay;
  }

  readonly request = async (request: KubeRequest): Promise<{ readonly [key: string]: unknown }> => {
    this.#requestsUnderWay += 1;
    try {
      await this.#way(request);
      const answer = await this.server.request(request);
      await this.#way(request);
      return structuredClone(answer);
    } finally {
      this.#requestsUnderWay -= 1;
    }
  };

  readonly stream = async (stream: KubeStream): Promise<void> => {
    this.#requestsUnderWay += 1;
    try {
      await this.#way(stream);
    } finally {
      this.#requestsUnderWay -= 1;
    }
    return this.server.stream(stream);
  };

  /** Resolves when the request, or its answer, has arrived. Rejects with what the client takes for its failure. */
  async #way({ path, signal }: Pick<KubeRequest, 'path' | 'signal'>): Promise<void> {
    const { latencyMs, hanging } = this.#weather();
    const isLost = this.#prng.chance(hanging);
    await this.#pass(isLost ? requestTimeoutMs : this.#prng.between(0, latencyMs), signal);
    if (signal?.aborted) throw new ApiError({ reason: 'Aborted', message: `GET ${path}: aborted` });
    if (isLost) throw new ApiError({ reason: 'Timeout', message: `GET ${path}: no answer` });
    const failure = failureIn(this.#weather(), this.#prng);
    if (failure !== undefined) throw failure;
  }

  #pass(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#clock.schedule(resolve, ms);
    signal?.addEventListener('abort', () => {
      cancel();
      resolve();
    });
    if (signal?.aborted) resolve();
    return promise;
  }

  #deliver(watch: ServedWatch, send: () => void): void {
    const earliest = this.#lastArrival.get(watch) ?? 0;
    const arrival = Math.max(earliest, this.#clock.elapsedMs + this.#prng.between(0, this.#weather().latencyMs));
    this.#lastArrival.set(watch, arrival);
    this.#clock.schedule(send, arrival - this.#clock.elapsedMs);
  }

  #sendBookmarks(): void {
    this.#clock.schedule(() => {
      this.server.sendBookmarks();
      this.#sendBookmarks();
    }, bookmarkEveryMs);
  }
}
