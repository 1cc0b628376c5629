import { describe, expect, it } from 'vitest';
import { Prng } from '../../random/chaos/prng.ts';
import { drawKinds } from '../../real/fleet/fault-schedule.ts';

const weights = { killed: 3, paused: 2, 'cut off': 1 };

function counts(kinds: readonly string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(kinds, (kind) => kind)].map(([kind, own]) => [kind, own.length]));
}

describe('the kinds of faults of a run', () => {
  it('come each as often as its weight says: a rare one is not missed by chance', () => {
    for (let seed = 1; seed < 50; seed++) {
      expect(counts(drawKinds(new Prng(seed), weights, 12))).toEqual({ killed: 6, paused: 4, 'cut off': 2 });
    }
  });

  it('are as many as were asked for, where the weights do not divide them', () => {
    for (let count = 0; count < 20; count++) expect(drawKinds(new Prng(1), weights, count)).toHaveLength(count);
  });

  it('come in an order that the seed says', () => {
    const drawn = drawKinds(new Prng(4), weights, 12);
    expect(drawKinds(new Prng(4), weights, 12)).toEqual(drawn);
    expect(drawKinds(new Prng(5), weights, 12)).not.toEqual(drawn);
  });
});
