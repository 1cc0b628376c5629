import { describe, expect, it } from 'vitest';
import { catchSeededMutant, seededVerdict } from '../seeded-runs.ts';
import { SeededTally } from '../seeded-tally.ts';
import { agentMutants } from './agent-mutants.ts';
import { agentsKind } from './agents-kind.ts';
import { simulateAgent } from './simulate-agents.ts';

describe('whole node agents over a container runtime in memory', () => {
  it('keep every promise with every fixed seed, through every kind of fault', async () => {
    const tally = new SeededTally('agents');
    for (let seed = 1; seed <= 8; seed++) {
      const run = { seed, minutes: 2 };
      const result = await simulateAgent(run);
      tally.add(result);
      expect(seededVerdict(agentsKind, run, result)).toBeUndefined();
    }
    console.log(tally.summary());
    const met = ['agent crashed', 'agent stopped', 'told: Succeeded', 'told: Failed', 'pod finished on the server', 'end told'];
    met.push('user: force delete', 'user: recreate', 'runtime: restart', 'runtime: events lost', 'runtime: container killed');
    for (const each of met) expect([each, tally.count(each)]).toEqual([each, expect.toSatisfy((count) => count > 0)]);
  });
});

describe('a seed', () => {
  it('gives the same run again, with every log line and every fault at the same moment', async () => {
    const [first, again]: string[][] = [[], []];
    for (const lines of [first, again]) await simulateAgent({ seed: 2, minutes: 1, onStep: (line) => void lines?.push(line) });
    expect(first?.length).toBeGreaterThan(50);
    expect(again).toEqual(first);
  });
});

describe('the checks of the agents', () => {
  it.each(agentMutants.map((mutant) => [mutant.name, mutant] as const))('notice when %s', async (_, mutant) => {
    const { rule, detail } = await catchSeededMutant(agentsKind, mutant, 1);
    expect(mutant.breaks, detail).toContain(rule);
  });
});
