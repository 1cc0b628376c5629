import type { RarePath } from './run-log.ts';
import type { SimulationOptions, SimulationResult } from './simulation.ts';

/** The command that runs a seed again, step by step. */
export function commandFor({ seed, minutes, mutant }: SimulationOptions): string {
  const broken = mutant === undefined ? '' : ` --mutant '${mutant.name}'`;
  return `npm run simulate -- --seed ${seed} --minutes ${minutes}${broken} --verbose`;
}

/** The sums over many runs. */
export class Tally {
  #seeds = 0;
  #simulatedMs = 0;
  #updates = 0;
  #requests = 0;
  #writes = 0;
  #pods = 0;
  #checkpoints = 0;
  readonly #paths: Partial<Record<RarePath, number>> = {};
  readonly #faults: Record<string, number> = {};
  readonly #failed: number[] = [];

  get failures(): number {
    return this.#failed.length;
  }

  get faultKinds(): string[] {
    return Object.keys(this.#faults);
  }

  get checkpoints(): number {
    return this.#checkpoints;
  }

  /** How often each rare path was taken. */
  get paths(): Readonly<Partial<Record<RarePath, number>>> {
    return this.#paths;
  }

  get writesLanded(): number {
    return this.#writes;
  }

  add({ seed, simulatedMs, counts, violation }: SimulationResult): void {
    this.#seeds++;
    this.#simulatedMs += simulatedMs;
    this.#updates += counts.updatesSet;
    this.#requests += counts.requests;
    this.#writes += counts.writesLanded;
    this.#pods += counts.podsCreated;
    this.#checkpoints += counts.checkpoints;
    for (const [path, count] of Object.entries(counts.paths))
      this.#paths[path as RarePath] = (this.#paths[path as RarePath] ?? 0) + count;
    for (const [kind, count] of Object.entries(counts.faults)) this.#faults[kind] = (this.#faults[kind] ?? 0) + count;
    if (violation !== undefined) this.#failed.push(seed);
  }

  summary(): string {
    const faults = Object.entries(this.#faults).sort(([a], [b]) => (a < b ? -1 : 1));
    const total = faults.reduce((sum, [, count]) => sum + count, 0);
    const hours = (this.#simulatedMs / 3_600_000).toFixed(1);
    return [
      `${this.#seeds} seeds, ${hours} simulated hours, ${this.#pods} pods, ${this.#updates} updates set, ` +
        `${this.#requests} requests, ${this.#writes} writes landed, ${total} faults, ${this.#failed.length} failures`,
      `${this.#checkpoints} checkpoints; ${Object.entries(this.#paths)
        .map(([path, count]) => `${path} ${count}`)
        .join(', ')}`,
      `faults: ${faults.map(([kind, count]) => `${kind} ${count}`).join(', ')}`,
      ...(this.#failed.length === 0 ? [] : [`failing seeds: ${this.#failed.slice(0, 50).join(' ')}`]),
    ].join('\n');
  }
}
