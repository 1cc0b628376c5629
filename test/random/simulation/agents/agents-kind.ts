import type { SeededKind } from '../seeded-runs.ts';
import { type AgentMutant, agentMutants } from './agent-mutants.ts';
import { simulateAgent } from './simulate-agents.ts';

export const agentsKind: SeededKind<AgentMutant> = {
  what: 'agents',
  mutants: agentMutants,
  mutantSeeds: 10,
  mutantMinutes: 2,
  simulate: simulateAgent,
};
