import type { SeededResult } from './seeded-runs.ts';

/** The sums over many runs. */
export class SeededTally {
  readonly #what: string;
  readonly #counts = new Map<string, number>();
  readonly #faults = new Map<string, number>();
  readonly #failed: number[] = [];
  #seeds = 0;
  #steps = 0;
  #simulatedMs = 0;
  #slowestMs = 0;

  /** `what`: what runs, in the plural. */
  constructor(what: string) {
    this.#what = what;
  }

  get failures(): number {
    return this.#failed.length;
  }

  /** How often each thing was done, and each fault met. */
  count(what: string): number {
    return this.#counts.get(what) ?? this.#faults.get(what) ?? 0;
  }

  add({ seed, steps, simulatedMs, counts, faults, convergedInMs = 0, violation }: SeededResult): void {
    this.#seeds++;
    this.#steps += steps;
    this.#simulatedMs += simulatedMs;
    this.#slowestMs = Math.max(this.#slowestMs, convergedInMs);
    addAll(this.#counts, counts);
    addAll(this.#faults, faults);
    if (violation !== undefined) this.#failed.push(seed);
  }

  summary(): string {
    const hours = (this.#simulatedMs / 3_600_000).toFixed(1);
    return [
      `${this.#what}: ${this.#seeds} seeds, ${hours} simulated hours, ${this.#steps} steps, ${this.#failed.length} failures; ` +
        `all in step after ${Math.round(this.#slowestMs / 1000)} s of calm at the latest`,
      `done: ${listed(this.#counts)}`,
      `faults: ${listed(this.#faults)}`,
      ...(this.#failed.length === 0 ? [] : [`failing seeds: ${this.#failed.slice(0, 50).join(' ')}`]),
    ].join('\n');
  }
}

function addAll(sums: Map<string, number>, counts: ReadonlyMap<string, number>): void {
  for (const [what, count] of counts) sums.set(what, (sums.get(what) ?? 0) + count);
}

function listed(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([what, count]) => `${what} ${count}`).join(', ');
}
