import { describe, expect, it } from 'vitest';
import { Random } from '../../../examples/virtual-node/random.ts';

const draw = (random: Random): number[] => Array.from({ length: 1000 }, () => random.next());

describe('Random', () => {
  it('gives the same numbers for the same seeds, and others for others', () => {
    expect(draw(new Random(1, 2))).toEqual(draw(new Random(1, 2)));
    expect(draw(new Random(1, 2))).not.toEqual(draw(new Random(2, 1)));
    expect(draw(new Random(1, -1))).not.toEqual(draw(new Random(1, 0)));
  });

  it('spreads its numbers over the range from 0 up to 1', () => {
    const numbers = draw(new Random(7));
    const tenths = new Set(numbers.map((number) => Math.floor(number * 10)));
    expect([...tenths].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('picks nothing from an empty list', () => {
    expect(new Random(1).pick([])).toBeUndefined();
    expect(new Random(1).pick(['only'])).toBe('only');
  });
});
