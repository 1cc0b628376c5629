import type { Prng } from '../../../chaos/prng.ts';
import type { SimulatedClock } from '../../simulated-clock.ts';

/** How bad the runtime is; all chances are of one call or one event. */
export interface RuntimeWeather {
  latencyMs: number;
  failing: number;
  hanging: number;
  eventsLost: number;
}

const fairRuntimeWeather: Readonly<RuntimeWeather> = { latencyMs: 30, failing: 0, hanging: 0, eventsLost: 0 };

const kinds = { slow: 2, failing: 4, hanging: 3, eventsLost: 3 } as const;

/** Bad times of the runtime, one after the other, until `end`. */
export class RuntimeFaults {
  readonly weather: RuntimeWeather = { ...fairRuntimeWeather };
  readonly #clock: SimulatedClock;
  readonly #prng: Prng;
  readonly #count: (fault: string) => void;
  #isOver = false;

  constructor(clock: SimulatedClock, prng: Prng, count: (fault: string) => void) {
    this.#clock = clock;
    this.#prng = prng;
    this.#count = count;
    this.#next();
  }

  end(): void {
    this.#isOver = true;
    Object.assign(this.weather, fairRuntimeWeather);
  }

  #next(): void {
    this.#clock.schedule(
      () => {
        if (this.#isOver) return;
        this.#strike(this.#prng.weighted<keyof typeof kinds>(kinds));
        this.#clock.schedule(
          () => {
            Object.assign(this.weather, fairRuntimeWeather);
            this.#next();
          },
          this.#prng.between(500, 20_000),
        );
      },
      this.#prng.between(0, 40_000),
    );
  }

  #strike(kind: keyof typeof kinds): void {
    this.#count(`runtime ${kind}`);
    const chance = this.#prng.between(0.1, 0.8);
    Object.assign(this.weather, kind === 'slow' ? { latencyMs: this.#prng.between(300, 4000) } : { [kind]: chance });
  }
}
