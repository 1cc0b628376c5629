import type { Rule } from '../chaos/rules.ts';
import type { SimulatedClock } from './simulated-clock.ts';

/** Paths of the manager that ordinary runs hardly take. */
export type RarePath =
  | 'status quarantined'
  | 'channel overflowed'
  | 'hint lost'
  | 'foreign write repaired'
  | 'status of a vanished pod dropped'
  | 'late write after no change';

/** What one run did, in numbers. */
export interface RunCounts {
  updatesSet: number;
  requests: number;
  writesLanded: number;
  podsCreated: number;
  /** Statuses that a flush called written; each is compared with the server's, whole. */
  checkpoints: number;
  readonly faults: Record<string, number>;
  readonly paths: Record<RarePath, number>;
}

export interface Violation {
  readonly rule: Rule;
  readonly detail: string;
  readonly atMs: number;
}

/** The record of one run: counts, the first broken rule, and, when wanted, every step. */
export class RunLog {
  readonly counts: RunCounts = {
    updatesSet: 0,
    requests: 0,
    writesLanded: 0,
    podsCreated: 0,
    checkpoints: 0,
    faults: {},
    paths: {
      'status quarantined': 0,
      'channel overflowed': 0,
      'hint lost': 0,
      'foreign write repaired': 0,
      'status of a vanished pod dropped': 0,
      'late write after no change': 0,
    },
  };
  readonly #clock: SimulatedClock;
  readonly #onStep: ((line: string) => void) | undefined;
  #violation: Violation | undefined;
  #steps = 0;

  constructor(clock: SimulatedClock, onStep: ((line: string) => void) | undefined) {
    this.#clock = clock;
    this.#onStep = onStep;
  }

  get violation(): Violation | undefined {
    return this.#violation;
  }

  get steps(): number {
    return this.#steps;
  }

  /** `words` is called only when the steps are printed. */
  readonly step = (words: () => string): void => {
    this.#steps++;
    this.#onStep?.(`${(this.#clock.elapsedMs / 1000).toFixed(3).padStart(9)}s  ${words()}`);
  };

  fault(kind: string): void {
    this.counts.faults[kind] = (this.counts.faults[kind] ?? 0) + 1;
  }

  /** The first broken rule ends the run: what breaks later may only follow from it. */
  readonly violate = (rule: Rule, detail: string): void => {
    if (this.#violation !== undefined) return;
    this.#violation = { rule, detail, atMs: this.#clock.elapsedMs };
    this.step(() => `BROKEN ${rule}: ${detail}`);
  };
}
