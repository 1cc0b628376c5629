import { describe, expect, it } from 'vitest';
import { catchSeededMutant, seededVerdict } from '../../seeded-runs.ts';
import { SeededTally } from '../../seeded-tally.ts';
import { simulateWholeFleet } from './simulate-whole-fleet.ts';
import { wholeFleetsKind } from './whole-fleets-kind.ts';

describe('whole fleets in a simulated cluster', () => {
  it('lose no status, create no pod twice, and write only what they own, with every fixed seed', async () => {
    const tally = new SeededTally('whole fleets');
    for (let seed = 1; seed <= 6; seed++) {
      const run = { seed, minutes: 1 };
      const result = await simulateWholeFleet(run);
      tally.add(result);
      expect(seededVerdict(wholeFleetsKind, run, result)).toBeUndefined();
    }
    const met = ['member crashed', 'member left', 'pod created', 'pod adopted', 'pod deleted', 'node released'];
    met.push('status written', 'write of a node sent', 'partition', 'pause', 'clock jump');
    for (const each of met) expect([each, tally.count(each)]).toEqual([each, expect.toSatisfy((count) => count > 0)]);
  });
});

describe('the checks of the whole fleets', () => {
  it.each(wholeFleetsKind.mutants.map((mutant) => [mutant.name, mutant] as const))('notice when %s', async (_, mutant) => {
    const { rule, detail } = await catchSeededMutant(wholeFleetsKind, mutant, 1);
    expect(mutant.breaks, detail).toContain(rule);
  });
});
