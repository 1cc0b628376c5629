import type { SeededKind } from '../seeded-runs.ts';
import { type FleetMutant, fleetMutants } from './mutants.ts';
import { simulateFleet } from './simulate-fleet.ts';

export const fleetsKind: SeededKind<FleetMutant> = {
  what: 'fleets',
  mutants: fleetMutants,
  mutantSeeds: 40,
  mutantMinutes: 2,
  simulate: simulateFleet,
};
