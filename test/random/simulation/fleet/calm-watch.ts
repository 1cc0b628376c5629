import type { SimulatedClock } from '../simulated-clock.ts';
import type { FleetFound } from './fleet-rules.ts';
import type { FleetWorld } from './fleet-world.ts';

export interface CalmWatchParts {
  readonly world: FleetWorld;
  readonly clock: SimulatedClock;
  readonly found: FleetFound;
}

const lookEveryMs = 500;
/** The duration of a Lease, and five seconds. */
const ownedWithinMs = 20_000;
/** How long a shard may be without an owner while it moves from one living member to another. */
const movesWithinMs = 5000;
/** How long its Lease may name nobody, where every member knows of every other one: the next in the line need not step in. */
const takenWithinMs = 1000;

/** Looks in calm weather whether every shard is served, and for how long none did. */
export class CalmWatch {
  readonly #parts: CalmWatchParts;
  readonly #unservedSince = new Map<number, number>();
  #isOver = false;
  #isQuiet = false;
  #beganMs = 0;
  /** When something happened last that explains that a shard is not served. */
  #explainedMs = 0;
  #servedInMs: number | undefined;

  constructor(parts: CalmWatchParts) {
    this.#parts = parts;
  }

  get servedInMs(): number | undefined {
    return this.#servedInMs;
  }

  /** From now on nothing new goes wrong. */
  begin(): void {
    this.#beganMs = this.#parts.clock.elapsedMs;
    this.explained();
    this.#look();
  }

  /** From now on a shard that is given up is to be taken at once. */
  quieten(): void {
    this.#isQuiet = true;
  }

  /** Something has gone wrong after all. */
  explained(): void {
    this.#explainedMs = this.#parts.clock.elapsedMs;
  }

  end(): void {
    this.#isOver = true;
  }

  #look(): void {
    const { world, clock, found } = this.#parts;
    if (this.#isOver) return;
    const now = clock.elapsedMs;
    const unserved = world.unserved();
    for (const shard of this.#unservedSince.keys()) if (!unserved.includes(shard)) this.#unservedSince.delete(shard);
    const explainedMs = Math.max(this.#explainedMs, world.lateWriteAtMs);
    for (const shard of unserved) {
      const sinceMs = this.#unservedSince.get(shard) ?? now;
      this.#unservedSince.set(shard, sinceMs);
      if (now <= explainedMs + ownedWithinMs || now <= sinceMs + movesWithinMs) continue;
      const words = `shard ${shard} has not been served for ${Math.round(now - sinceMs)} ms, ${Math.round(now - explainedMs)} ms after the last fault`;
      found('a shard is owned again in time', words);
    }
    if (this.#isQuiet && now > explainedMs + ownedWithinMs) this.#lookAtUnheld();
    if (unserved.length === 0) this.#servedInMs ??= now - this.#beganMs;
    clock.schedule(() => this.#look(), lookEveryMs);
  }

  #lookAtUnheld(): void {
    const { world, clock, found } = this.#parts;
    for (const [shard, sinceMs] of world.unheld) {
      const unheldMs = clock.elapsedMs - sinceMs;
      if (unheldMs > takenWithinMs)
        found('a shard is owned again in time', `the Lease of shard ${shard} has named nobody for ${Math.round(unheldMs)} ms`);
    }
  }
}
