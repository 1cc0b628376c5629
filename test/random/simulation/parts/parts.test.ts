import { describe, expect, it } from 'vitest';
import { partsMutants } from '../../chaos/parts/mutants.ts';
import { catchSeededMutant, seededVerdict } from '../seeded-runs.ts';
import { SeededTally } from '../seeded-tally.ts';
import { partsKind } from './parts-kind.ts';
import { simulateParts } from './simulate-parts.ts';

describe('reflector, object managers and mirror pods in simulated clusters', () => {
  it('keep every promise with every fixed seed, through every kind of fault', async () => {
    const tally = new SeededTally('parts');
    for (let seed = 1; seed <= 12; seed++) {
      const run = { seed, minutes: 1 };
      const result = await simulateParts(run);
      tally.add(result);
      expect(seededVerdict(partsKind, run, result)).toBeUndefined();
    }
    console.log(tally.summary());
    const faults = [
      'down',
      'stale caches',
      'compaction',
      'all connections reset',
      'clock jump',
      'request straggles',
      'answer lost',
    ];
    faults.push('watch reset', 'watch cut in a line', 'watch ended', 'watch 410', 'watch 410 at once', 'watch silent');
    faults.push('watch hanging', 'watch refused', 'answer 429', 'answer 503');
    for (const fault of faults) expect([fault, tally.count(fault)]).toEqual([fault, expect.toSatisfy((count) => count > 0)]);
    expect(tally.count('read: a value')).toBeGreaterThan(4000);
    expect(tally.count('object recreated')).toBeGreaterThan(200);
    expect(tally.count('pod: update')).toBeGreaterThan(200);
    expect(tally.count('mirror deleted: for a foreign pod')).toBeGreaterThan(10);
  });

  it('keep every promise with three more seeds in runs that are twice as long', async () => {
    for (const seed of [13, 14, 15]) {
      const run = { seed, minutes: 2 };
      expect(seededVerdict(partsKind, run, await simulateParts(run))).toBeUndefined();
    }
  });

  it('do the same when the seed is the same', async () => {
    const [one, again, other] = [
      await simulateParts({ seed: 7, minutes: 1 }),
      await simulateParts({ seed: 7, minutes: 1 }),
      await simulateParts({ seed: 8, minutes: 1 }),
    ];
    expect(one.steps).toBeGreaterThan(500);
    expect(again).toEqual(one);
    expect(other.steps).not.toBe(one.steps);
  });
});

describe('the checks of the parts', () => {
  it.each(partsMutants.map((mutant) => [mutant.name, mutant] as const))('notice when %s', async (_, mutant) => {
    const { rule, detail } = await catchSeededMutant(partsKind, mutant, 1);
    expect(mutant.breaks, detail).toContain(rule);
  });
});
