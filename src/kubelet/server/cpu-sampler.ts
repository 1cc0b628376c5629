import { type Clock, type SteadyClock, safeClock, sleep } from '../../base/clock.ts';

export interface CpuSamplerOptions {
  /** The processor time since the start, in nanoseconds; undefined where nobody says. */
  readonly read: () => Promise<number | undefined>;
  readonly clock: Clock;
  /** How often it is read, in milliseconds. */
  readonly periodMs?: number;
}

interface CpuSample {
  readonly nanoseconds: number;
  /** By the clock's elapsed time. */
  readonly at: number;
}

/** Reads processor time again and again, since what is taken now is the difference of two readings. */
export class CpuSampler {
  readonly #options: CpuSamplerOptions;
  readonly #clock: SteadyClock;
  readonly #stopping = new AbortController();
  #last: CpuSample | undefined;
  #nanoCores: number | undefined;
  #run: Promise<void> = Promise.resolve();

  constructor(options: CpuSamplerOptions) {
    this.#options = options;
    this.#clock = safeClock(options.clock);
  }

  /** Nanoseconds a second, between the last two readings; undefined before there are two. */
  get nanoCores(): number | undefined {
    return this.#nanoCores;
  }

  start(): void {
    this.#run = this.#readOnAndOn();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#run;
  }

  async #readOnAndOn(): Promise<void> {
    const { read, periodMs = 10_000 } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      this.#note(await read().catch(() => undefined));
      await sleep(this.#clock, periodMs, signal);
    }
  }

  #note(nanoseconds: number | undefined): void {
    const before = this.#last;
    const at = this.#clock.elapsed();
    this.#last = nanoseconds === undefined ? undefined : { nanoseconds, at };
    const isCountedOn = before !== undefined && nanoseconds !== undefined && nanoseconds >= before.nanoseconds && at > before.at;
    this.#nanoCores = isCountedOn ? Math.round(((nanoseconds - before.nanoseconds) / (at - before.at)) * 1000) : undefined;
  }
}
