import { describe, expect, it } from 'vitest';
import { CelMeter } from '../../../../../src/scheduler/devices/cel/cel-meter.ts';
import { celOrder, textOrder } from '../../../../../src/scheduler/devices/cel/comparison.ts';
import { CelFailure } from '../../../../../src/scheduler/devices/cel/values.ts';
import { celResult } from '../cel-world.ts';

describe('comparisons', () => {
  it.each([
    ['1 == dyn(1.0) && 1u == dyn(1) && 1.5 != dyn(1)'],
    ['double("NaN") != double("NaN")'],
    ['{"a": [1, 2]} == {"a": [1, 2]} && {"a": 1} != {"b": 1}'],
    ['[1] != dyn(["1"]) && [1] != [1, 2]'],
    ['b"a" == b"a" && b"a" < b"b"'],
    ['"\\uffff" < "😀" && "a" < "ab"'],
    ['false < true'],
    ['9223372036854775807 < 9223372036854775808.0 || true'],
    ['optional.of(1) == optional.of(1) && optional.of(1) != optional.none()'],
    ['type(1) == type(2) && type(1) != type("a")'],
    ['dyn("a") != quantity("1") && dyn(null) != 1'],
  ])('go by the values: %s', (expression) => {
    expect(celResult(expression)).toBe(true);
  });

  it.each([
    'quantity("1") == dyn("1")',
    'dyn(1) < dyn("a")',
    'double("NaN") < 1.0',
  ])('fail where there is no answer: %s', (expression) => {
    expect(celResult(expression)).toMatch(/^failure: /);
  });

  it('take a part that has no answer for equal, as upstream does', () => {
    expect(celResult('[dyn(quantity("1"))] == [dyn("1")]')).toBe(true);
  });

  it('put texts in the order of their characters', () => {
    expect([textOrder('\uffff', '😀'), textOrder('b', 'a'), textOrder('a', 'a')]).toEqual([-1, 1, 0]);
    expect(celOrder('a', 1n, new CelMeter(1))).toBeInstanceOf(CelFailure);
  });
});
