import type { RunKind } from '../options.ts';
import { Random } from '../random.ts';
import type { Faults } from './fault.ts';
import { providerFaults, runtimeFaults, scheduleFaults } from './node-faults.ts';
import { serverFaults } from './server-faults.ts';

/** Every fault, by its name. */
export const faults: Faults = { ...serverFaults, ...providerFaults, ...runtimeFaults, ...scheduleFaults };

/** So many faults are in a round. */
const inARound = 16;
/** In a run that does not end, a fault begins so often. */
const longestGapMs = 3000;

export interface PlannedFault {
  readonly name: string;
  /** Since the beginning of the round. */
  readonly atMs: number;
  readonly forMs: number;
  /** What it picks pods by. */
  readonly seed: number;
}

export interface PlanOptions {
  readonly kind: RunKind;
  readonly seed: number;
  /** False: the server is real, and is not broken. */
  readonly isInMemory: boolean;
  /** Undefined: the run goes on, round after round. */
  readonly seconds: number | undefined;
  readonly round?: number;
}

/** Which faults there are in a round, and when. It depends on the options alone. At most three are there at a time. */
export function faultPlan({ kind, seed, isInMemory, seconds, round = 0 }: PlanOptions): PlannedFault[] {
  const random = new Random(seed, -2, round);
  const names = Object.keys(faults).filter(
    (name) => faults[name]?.kinds.includes(kind) && (isInMemory || !faults[name].needsMemory),
  );
  const chosen = Array.from({ length: Math.min(inARound, names.length) }, () =>
    names.splice(Math.floor(random.next() * names.length), 1),
  ).flat();
  // the pods come first, and at the end all is well again
  const gapMs = Math.min(longestGapMs, ((seconds ?? Number.POSITIVE_INFINITY) * 750) / chosen.length);
  return chosen.map((name, index) => ({
    name,
    atMs: Math.round((index + 2) * gapMs),
    forMs: Math.round(random.between(1.2, 2) * gapMs),
    seed: random.seed(),
  }));
}
