import { describe, expect, it } from 'vitest';
import { celResult } from '../../cel-world.ts';

describe('versions', () => {
  it.each([
    ['semver("1.2.3").major() == 1 && semver("1.2.3").minor() == 2 && semver("1.2.3").patch() == 3'],
    ['semver("1.10.0").isGreaterThan(semver("1.9.0")) && semver("1.0.0-rc.1").isLessThan(semver("1.0.0"))'],
    [
      'semver("1.0.0-alpha").isLessThan(semver("1.0.0-alpha.1")) && semver("1.0.0-alpha.1").isLessThan(semver("1.0.0-alpha.beta"))',
    ],
    ['semver("1.0.0-2").compareTo(semver("1.0.0-10")) == -1 && semver("1.0.0+a") == semver("1.0.0+b")'],
    ['semver("v1", true) == semver("1.0.0") && semver("01.02", true) == semver("1.2.0")'],
    ['isSemver("1.2.3-a+b") && !isSemver("1.2") && isSemver("1.2", true) && !isSemver("1.2-a", true) && !isSemver("1.2.3-01")'],
    ['!isSemver("1.2.3.4") && !isSemver("18446744073709551616.0.0") && !isSemver("1.2.3-") && !isSemver("")'],
  ])('go by the rules of semver.org: %s', (expression) => {
    expect(celResult(expression)).toBe(true);
  });

  it('are failures where they are none', () => {
    expect(celResult('semver("1.2") == semver("1.2.0")')).toBe('failure: this text is no version');
  });
});
