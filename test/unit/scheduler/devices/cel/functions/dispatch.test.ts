import { describe, expect, it } from 'vitest';
import { celResult } from '../../cel-world.ts';

describe('the form of a function that is called', () => {
  it('is found by the values where the types are not known', () => {
    expect(celResult('[dyn("1"), dyn(1), dyn(1.0), dyn(1u)].all(x, int(x) == 1)')).toBe(true);
    expect(celResult('[dyn(quantity("1")), dyn(semver("1.0.0"))].all(x, x.compareTo(x) == 0)')).toBe(true);
    expect(celResult('[dyn("aa"), dyn(["a"])].all(x, x.indexOf("a") == 0)')).toBe(true);
  });

  it('has to take the values', () => {
    expect(celResult('int([dyn([])][0]) == 1')).toBe('failure: int takes no arguments of the types list');
    expect(celResult('[dyn(1)].map(x, x.compareTo(x)) == []')).toBe(
      'failure: compareTo takes no arguments of the types int, int',
    );
    expect(celResult('[dyn([1])].map(x, x.join()) == [""]')).toBe('failure: join takes no arguments of the types list');
  });
});
