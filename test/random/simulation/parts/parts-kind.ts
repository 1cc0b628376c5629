import { type PartsMutant, partsMutants } from '../../chaos/parts/mutants.ts';
import type { SeededKind } from '../seeded-runs.ts';
import { simulateParts } from './simulate-parts.ts';

export const partsKind: SeededKind<PartsMutant> = {
  what: 'parts',
  mutants: partsMutants,
  mutantSeeds: 20,
  mutantMinutes: 1,
  simulate: simulateParts,
};
