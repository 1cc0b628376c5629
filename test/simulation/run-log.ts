import type { SimulatedClock } from './simulated-clock.ts';

/** What one run did, in numbers. */
export interface RunCounts {
  updatesSet: number;
  requests: number;
  writesLanded: number;
  podsCreated: number;
  faults: Record<string, number>;
}

export interface Violation {
  readonly rule: string;
  readonly detail: string;
  readonly atMs: number;
}

/** The record of one run: counts, the first broken rule, and, when wanted, every step. */
export class RunLog {
  readonly counts: RunCounts = { updatesSet: 0, requests: 0, writesLanded: 0, podsCreated: 0, faults: {} };
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

  /** The words are put together only when somebody reads them. */
  step(words: () => string): void {
    this.#steps++;
    this.#onStep?.(`${(this.#clock.elapsedMs / 1000).toFixed(3).padStart(9)}s  ${words()}`);
  }

  fault(kind: string): void {
    this.counts.faults[kind] = (this.counts.faults[kind] ?? 0) + 1;
  }

  /** The first broken rule ends the run; what follows from it says nothing new. */
  violate(rule: string, detail: string): void {
    if (this.#violation !== undefined) return;
    this.#violation = { rule, detail, atMs: this.#clock.elapsedMs };
    this.step(() => `BROKEN ${rule}: ${detail}`);
  }
}
