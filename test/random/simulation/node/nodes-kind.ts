import type { SeededKind } from '../seeded-runs.ts';
import { type NodeMutant, nodeMutants } from './mutants.ts';
import { simulateNode } from './simulate-node.ts';

export const nodesKind: SeededKind<NodeMutant> = {
  what: 'nodes',
  mutants: nodeMutants,
  mutantSeeds: 20,
  mutantMinutes: 2,
  simulate: simulateNode,
};
