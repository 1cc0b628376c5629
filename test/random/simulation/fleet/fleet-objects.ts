import type { JsonObject } from '../../../../src/api/json/types.ts';
import type { KubeRequest } from '../../../../src/client/transport/kube-transport.ts';
import type { Prng } from '../../chaos/prng.ts';
import type { ApiWeather } from '../parts/api-weather.ts';
import { SimulatedObjects } from '../parts/simulated-objects.ts';
import type { SimulatedClock } from '../simulated-clock.ts';

/** A request that says when it was sent, by true time. */
export interface SentRequest extends KubeRequest {
  readonly sentAtMs: number;
}

const longestFairWayMs = 500;

/** The server's objects; it remembers when a write has arrived late, that its client may have given up long ago. */
export class FleetObjects extends SimulatedObjects {
  readonly #clock: SimulatedClock;
  #lateWriteAtMs = 0;

  constructor(clock: SimulatedClock, prng: Prng, weather: Readonly<ApiWeather>) {
    super(clock, prng, weather);
    this.#clock = clock;
  }

  get lateWriteAtMs(): number {
    return this.#lateWriteAtMs;
  }

  override answer(request: KubeRequest): JsonObject {
    const { elapsedMs } = this.#clock;
    const { sentAtMs = elapsedMs } = request as Partial<SentRequest>;
    if (request.method !== 'GET' && elapsedMs - sentAtMs > longestFairWayMs) this.#lateWriteAtMs = elapsedMs;
    return super.answer(request);
  }
}
