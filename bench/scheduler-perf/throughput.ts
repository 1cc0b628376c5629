/** Pods a second, over samples of about a second each. */
export interface Throughput {
  readonly average: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

export const sampleMs = 1000;

/**
 * The throughput as scheduler_perf counts it. The first sample with a pod in it only sets the beginning. A sample without a new pod
 * is added to the next one, whose rate then counts for each of them. What comes after the last sample does not count.
 */
export class ThroughputSamples {
  readonly #rates: number[] = [];
  #last: { readonly atMs: number; readonly scheduled: number } | undefined;
  #skipped = 0;

  sample(atMs: number, scheduled: number): void {
    if (scheduled === 0) return;
    if (this.#last === undefined) {
      this.#last = { atMs, scheduled };
      return;
    }
    const more = scheduled - this.#last.scheduled;
    if (more === 0) {
      this.#skipped += 1;
      return;
    }
    const rate = (more * 1000) / (atMs - this.#last.atMs);
    for (let count = 0; count <= this.#skipped; count++) this.#rates.push(rate);
    this.#skipped = 0;
    this.#last = { atMs, scheduled };
  }

  /** Undefined where everything was over before a second sample. */
  result(): Throughput | undefined {
    if (this.#rates.length === 0) return undefined;
    const sorted = this.#rates.toSorted((a, b) => a - b);
    const at = (percent: number): number => sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? 0;
    const average = sorted.reduce((sum, rate) => sum + rate, 0) / sorted.length;
    return { average, p50: at(50), p90: at(90), p99: at(99) };
  }
}
