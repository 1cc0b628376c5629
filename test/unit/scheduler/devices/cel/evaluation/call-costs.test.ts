import { describe, expect, it } from 'vitest';
import { celOutcome } from '../../cel-world.ts';

describe('what an expression costs', () => {
  it.each([
    ['true', 0],
    ['1 == 1', 1],
    ['[1, 2] == [1, 2]', 1],
    ['"aaaaaaaaaaaaaaaaaaaa" == "aaaaaaaaaaaaaaaaaaaa"', 2],
    ['type(1) == int', 1],
    ['1 in [1, 2, 3]', 0],
    ['1 + 1 in [1 + 1]', 13],
    ['[1].exists(x, x == 1)', 7],
    ['lists.range(100).size() == 100', 113],
    ['[3, 1].sort() == [1, 3]', 20],
    ['"aaaaaaaaaa".contains("b")', 1],
    ['"aaaaaaaaaaaaaaaaaaaa".matches("aaaaaaaa")', 6],
    ['sets.contains([1, 2], [1])', 3],
    ['has({"a": 1}.a)', 1],
    ['{"a": 1 + 1}.a == 2', 34],
    ['quantity("1") == quantity("1")', 3],
    ['["aaaaaaaaaa", "b"].indexOf("b") == 1', 2],
    ['[1, 2].slice(1, 1 / 0) == [] || true', 13],
    ['[1, 2].slice(1 / 0, 1) == [] || true', 1],
    ['quantity("1").sub(dyn(1.5)).add(dyn(1)) == quantity("1") || true', 4],
    ['string(1 / 0).matches("aaaaaaaa") || true', 2],
    ['string(1 / 0).contains("aaaaaaaa") || true', 3],
  ])('is counted as upstream counts it: %s is %i', (expression, cost) => {
    expect(celOutcome(expression).cost).toBe(cost);
  });
});
