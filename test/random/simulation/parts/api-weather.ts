import type { Prng } from '../../chaos/prng.ts';
import type { SimulatedClock } from '../simulated-clock.ts';

/** How bad server and network are; all chances are of one request or one watch. */
export interface ApiWeather {
  server: 'well' | 'down' | 'throttling' | 'failing';
  /** The longest usual way there, or back, in milliseconds. */
  latencyMs: number;
  /** Request or answer is lost. */
  loss: number;
  /** The request arrives long after its client has given it up. */
  straggling: number;
  /** A watch is refused, hangs, lies still, is cut, reset or ended. */
  watchFaults: number;
  /** Reads from a server's cache, and watches, come from a server that lags behind. */
  staleCaches: number;
}

export const fairApiWeather: Readonly<ApiWeather> = {
  server: 'well',
  latencyMs: 20,
  loss: 0,
  straggling: 0,
  watchFaults: 0,
  staleCaches: 0,
};

export interface ApiFaultParts {
  readonly clock: SimulatedClock;
  readonly prng: Prng;
  readonly weather: ApiWeather;
  /** Caches may lag behind in this run. */
  readonly cachesLag: boolean;
  /** Forgets the history: watches from old versions are answered 410. */
  readonly compact: () => void;
  /** Every connection breaks. */
  readonly resetAll: () => void;
  readonly jumpClock: (ms: number) => void;
  readonly count: (fault: string) => void;
}

const kinds = {
  slow: 3,
  lossy: 4,
  straggling: 3,
  throttling: 2,
  failing: 3,
  down: 3,
  'watches fail': 6,
  'stale caches': 5,
  compaction: 4,
  'all connections reset': 3,
  'clock jump': 1,
} as const;

/** Begins one fault after another, several at a time, until `end`. */
export class ApiFaults {
  readonly #parts: ApiFaultParts;
  readonly #everyMs: number;
  #isOver = false;

  constructor(parts: ApiFaultParts) {
    this.#parts = parts;
    this.#everyMs = parts.prng.pick([1500, 5000, 15_000]) ?? 5000;
    this.#next();
  }

  /** From now on everything works; what is on its way still arrives, and a watch that lies still goes on lying. */
  end(): void {
    this.#isOver = true;
    Object.assign(this.#parts.weather, fairApiWeather);
  }

  #next(): void {
    const { clock, prng, cachesLag } = this.#parts;
    const strike = (): void => {
      if (this.#isOver) return;
      const kind = prng.weighted<keyof typeof kinds>(kinds);
      this.#strike(kind === 'stale caches' && !cachesLag ? 'compaction' : kind);
      this.#next();
    };
    clock.schedule(strike, prng.between(0, 2 * this.#everyMs));
  }

  #strike(kind: keyof typeof kinds): void {
    const { prng, count, compact, resetAll, jumpClock } = this.#parts;
    count(kind);
    if (kind === 'compaction') compact();
    else if (kind === 'clock jump') jumpClock(prng.pick([-3_600_000, -5000, 5000, 3_600_000]) ?? 0);
    else {
      if (kind === 'down' || kind === 'all connections reset') resetAll();
      if (kind !== 'all connections reset') this.#set(this.#changed(kind));
    }
  }

  #changed(kind: Exclude<keyof typeof kinds, 'compaction' | 'clock jump' | 'all connections reset'>): Partial<ApiWeather> {
    const { prng } = this.#parts;
    switch (kind) {
      case 'slow':
        return { latencyMs: prng.between(300, 6000) };
      case 'lossy':
        return { loss: prng.between(0.1, 0.7) };
      case 'straggling':
        return { straggling: prng.between(0.1, 0.5) };
      case 'watches fail':
        return { watchFaults: prng.between(0.3, 1) };
      case 'stale caches':
        return { staleCaches: prng.between(0.3, 1) };
      default:
        return { server: kind };
    }
  }

  /** For a while; unless all is well again already. */
  #set(change: Partial<ApiWeather>): void {
    const { clock, prng, weather } = this.#parts;
    Object.assign(weather, change);
    const undo = Object.fromEntries(Object.keys(change).map((key) => [key, fairApiWeather[key as keyof ApiWeather]]));
    clock.schedule(
      () => Object.assign(weather, undo),
      prng.chance(0.2) ? prng.between(20_000, 90_000) : prng.between(300, 15_000),
    );
  }
}
