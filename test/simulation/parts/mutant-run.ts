import type { PartsMutant } from '../../chaos/parts/mutants.ts';
import type { PartsRule } from '../../chaos/parts/rules.ts';
import { simulateParts } from './simulate-parts.ts';

/** A mutant that survives this many seeds would show that the checks are blind to it. */
const seedsPerMutant = 20;
const minutes = 1;

export interface CaughtPartsMutant {
  /** The first rule that was found broken; undefined: the mutant was not caught. */
  readonly rule: PartsRule | undefined;
  readonly detail: string;
  /** Runs until then. */
  readonly seeds: number;
}

/** Runs a mutant with one seed after another, until a rule is found broken. */
export async function catchPartsMutant(mutant: PartsMutant, firstSeed: number): Promise<CaughtPartsMutant> {
  for (let seeds = 1; seeds <= seedsPerMutant; seeds++) {
    const { violation } = await simulateParts({ seed: firstSeed + seeds - 1, minutes, mutant });
    if (violation !== undefined) return { rule: violation.rule, detail: violation.detail, seeds };
  }
  return { rule: undefined, detail: '', seeds: seedsPerMutant };
}
