import type { SeededKind } from '../../seeded-runs.ts';
import type { FleetRule } from '../fleet-rules.ts';
import { simulateWholeFleet } from './simulate-whole-fleet.ts';

/** A whole fleet broken on purpose. */
export interface WholeFleetMutant {
  readonly name: string;
  readonly breaks: readonly FleetRule[];
  readonly isUnguarded?: boolean;
}

const mutants: readonly WholeFleetMutant[] = [
  {
    name: 'no request asks its guard',
    breaks: ['a write is sent only by the member that the Lease names'],
    isUnguarded: true,
  },
];

export const wholeFleetsKind: SeededKind<WholeFleetMutant> = {
  what: 'whole-fleets',
  mutants,
  mutantSeeds: 20,
  mutantMinutes: 1,
  simulate: simulateWholeFleet,
};
