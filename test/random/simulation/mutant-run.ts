import type { Mutant } from '../chaos/mutants.ts';
import type { Rule } from '../chaos/rules.ts';
import { simulate } from './simulation.ts';

/** A mutant that survives this many seeds would show that the checks are blind to it. */
const seedsPerMutant = 40;
const minutes = 3;

export interface CaughtMutant {
  /** The first rule that was found broken; undefined: the mutant was not caught. */
  readonly rule: Rule | undefined;
  /** Runs until then. */
  readonly seeds: number;
  /** Simulated time until then, over all of these runs. */
  readonly simulatedMs: number;
}

/** Runs a mutant with one seed after another, until a rule is found broken. */
export async function catchMutant(mutant: Mutant, firstSeed: number): Promise<CaughtMutant> {
  let simulatedMs = 0;
  for (let seeds = 1; seeds <= seedsPerMutant; seeds++) {
    const { violation, ...run } = await simulate({ seed: firstSeed + seeds - 1, minutes, mutant });
    simulatedMs += violation?.atMs ?? run.simulatedMs;
    if (violation !== undefined) return { rule: violation.rule, seeds, simulatedMs };
  }
  return { rule: undefined, seeds: seedsPerMutant, simulatedMs };
}
