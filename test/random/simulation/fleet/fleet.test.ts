import { describe, expect, it } from 'vitest';
import { catchSeededMutant, seededVerdict } from '../seeded-runs.ts';
import { SeededTally } from '../seeded-tally.ts';
import { fleetsKind } from './fleets-kind.ts';
import { fleetMutants } from './mutants.ts';
import { simulateFleet } from './simulate-fleet.ts';

describe('the members of fleets in simulated clusters', () => {
  it('keep every promise with every fixed seed, through every kind of fault', async () => {
    const tally = new SeededTally('fleets');
    for (let seed = 1; seed <= 6; seed++) {
      const run = { seed, minutes: 0.5 };
      const result = await simulateFleet(run);
      tally.add(result);
      expect(seededVerdict(fleetsKind, run, result)).toBeUndefined();
    }
    console.log(tally.summary());
    const met = [
      'member crashed',
      'member left',
      'shard gained',
      'shard handed over',
      'shard lost',
      'shard moved in calm weather',
    ];
    met.push(
      'pod bound',
      'pod created',
      'write kept back by its guard',
      'write taken',
      'pause',
      'machine asleep',
      'clock jump',
      'partition',
      'long queue',
    );
    met.push('request straggles', 'answer lost', 'server down', 'watches silent', 'compaction');
    for (const each of met) expect([each, tally.count(each)]).toEqual([each, expect.toSatisfy((count) => count > 0)]);
  });

  it('do the same when the seed is the same', async () => {
    const run = (seed: number) => simulateFleet({ seed, minutes: 0.3 });
    const [one, again, other] = [await run(7), await run(7), await run(8)];
    expect(one.steps).toBeGreaterThan(500);
    expect(again).toEqual(one);
    expect(other.steps).not.toBe(one.steps);
  });
});

describe('the checks of the fleets', () => {
  it.each(fleetMutants.map((mutant) => [mutant.name, mutant] as const))('notice when %s', async (_, mutant) => {
    const { rule, detail } = await catchSeededMutant(fleetsKind, mutant, mutant.firstSeed ?? 1);
    expect(mutant.breaks, detail).toContain(rule);
  });
});
