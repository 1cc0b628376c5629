import { describe, expect, it } from 'vitest';
import { catchSeededMutant, seededVerdict } from '../seeded-runs.ts';
import { SeededTally } from '../seeded-tally.ts';
import { nodeMutants } from './mutants.ts';
import { nodesKind } from './nodes-kind.ts';
import { simulateNode } from './simulate-node.ts';

describe('whole nodes in simulated clusters', () => {
  it('keep every promise with every fixed seed, through every kind of fault', async () => {
    const tally = new SeededTally('nodes');
    for (let seed = 1; seed <= 12; seed++) {
      const run = { seed, minutes: 2 };
      const result = await simulateNode(run);
      tally.add(result);
      expect(seededVerdict(nodesKind, run, result)).toBeUndefined();
    }
    console.log(tally.summary());
    const met = ['agent crashed', 'agent stopped', 'told: Succeeded', 'told: Failed', 'pod finished on the server'];
    met.push('user: evict', 'user: recreate', 'user: put manifest back', 'user: delete mirror pod', 'user: delete sooner');
    met.push('runtime slow', 'runtime failing', 'runtime hanging', 'runtime eventsLost', 'down', 'stale caches', 'answer lost');
    for (const each of met) expect([each, tally.count(each)]).toEqual([each, expect.toSatisfy((count) => count > 0)]);
  });

  it('keep every promise with three more seeds in runs that are twice as long', async () => {
    for (const seed of [13, 14, 15]) {
      const run = { seed, minutes: 4 };
      expect(seededVerdict(nodesKind, run, await simulateNode(run))).toBeUndefined();
    }
  });

  it('do the same when the seed is the same', async () => {
    const run = (seed: number) => simulateNode({ seed, minutes: 2 });
    const [one, again, other] = [await run(7), await run(7), await run(8)];
    expect(one.steps).toBeGreaterThan(500);
    expect(again).toEqual(one);
    expect(other.steps).not.toBe(one.steps);
  });
});

describe('the checks of the nodes', () => {
  it.each(nodeMutants.map((mutant) => [mutant.name, mutant] as const))('notice when %s', async (_, mutant) => {
    const { rule, detail } = await catchSeededMutant(nodesKind, mutant, 1);
    expect(mutant.breaks, detail).toContain(rule);
  });
});
