import { ApiError } from '../../../../src/index.ts';
import type { ObjectServer, ServedWatch } from '../../../support/object-server.ts';
import type { Prng } from '../../chaos/prng.ts';
import type { SimulatedClock } from '../simulated-clock.ts';

/** How bad things are now. */
export interface Weather {
  /** The longest way of a request, of its answer, and of an event, in milliseconds. */
  latencyMs: number;
  /** How many versions a cache of the server may lag behind. */
  lag: number;
  /** Chances of one request. */
  failing: number;
  hanging: number;
  isServerDown: boolean;
}

export const fairWeather: Readonly<Weather> = { latencyMs: 20, lag: 0, failing: 0, hanging: 0, isServerDown: false };

const kinds = ['resets', 'ends', 'expiry', 'stillness', 'lag', 'failing', 'hanging', 'slowness', 'serverKilled'] as const;
export type FaultKind = (typeof kinds)[number];

/** Lets faults come and go, until it is told to stop. */
export class Storm {
  readonly weather: Weather = { ...fairWeather };
  readonly counts = new Map<FaultKind, number>();
  readonly #clock: SimulatedClock;
  readonly #server: ObjectServer;
  readonly #prng: Prng;
  #isOver = false;

  constructor(clock: SimulatedClock, server: ObjectServer, prng: Prng) {
    this.#clock = clock;
    this.#server = server;
    this.#prng = prng;
  }

  begin(): void {
    this.#next();
  }

  /** The weather is fair from now on; watches that are still stay so. */
  calm(): void {
    this.#isOver = true;
    Object.assign(this.weather, fairWeather);
  }

  #next(): void {
    this.#clock.schedule(
      () => {
        if (this.#isOver) return;
        this.#strike(this.#prng.pick(kinds) ?? 'resets');
        this.#next();
      },
      this.#prng.between(1000, 15_000),
    );
  }

  #strike(kind: FaultKind): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
    if (kind === 'resets') this.#some((watch) => watch.reset());
    else if (kind === 'ends') this.#some((watch) => watch.end());
    else if (kind === 'stillness') this.#some((watch) => this.#hush(watch));
    else if (kind === 'expiry') this.#expire();
    else if (kind === 'lag') this.#forAWhile({ lag: this.#prng.int(1, 6) });
    else if (kind === 'failing') this.#forAWhile({ failing: this.#prng.between(0.2, 1) });
    else if (kind === 'hanging') this.#forAWhile({ hanging: this.#prng.between(0.1, 0.6) });
    else if (kind === 'slowness') this.#forAWhile({ latencyMs: this.#prng.between(100, 3000) });
    else this.#kill();
  }

  #some(strike: (watch: ServedWatch) => void): void {
    const share = this.#prng.next();
    for (const watch of [...this.#server.watches]) if (this.#prng.chance(share)) strike(watch);
  }

  #hush(watch: ServedWatch): void {
    watch.isStill = true;
  }

  #expire(): void {
    this.#server.forgetHistory();
    this.#some((watch) => watch.expire());
  }

  #kill(): void {
    for (const watch of [...this.#server.watches]) watch.reset();
    if (this.#prng.chance(0.3)) this.#server.forgetHistory();
    this.#forAWhile({ isServerDown: true });
  }

  #forAWhile(weather: Partial<Weather>): void {
    Object.assign(this.weather, weather);
    const back = Object.fromEntries(Object.keys(weather).map((key) => [key, fairWeather[key as keyof Weather]]));
    this.#clock.schedule(() => Object.assign(this.weather, this.#isOver ? fairWeather : back), this.#prng.between(1000, 40_000));
  }
}

/** What a request fails with in bad weather; undefined when it goes through. */
export function failureIn(weather: Readonly<Weather>, prng: Prng): ApiError | undefined {
  if (weather.isServerDown) {
    const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    return new ApiError({ reason: 'Network', message: 'GET: nothing listens', cause });
  }
  if (!prng.chance(weather.failing)) return undefined;
  const status = prng.pick([500, 503, 504, 429, 403, 401]) ?? 500;
  if (status === 504) return new ApiError({ status, reason: 'Timeout', message: 'GET: 504 Too large resource version' });
  return new ApiError({ status, reason: 'Refused', message: `GET: ${status}`, retryAfterMs: status === 429 ? 1000 : undefined });
}
