import { describe, expect, it } from 'vitest';
import { nullIsAbsent, toWireJson, toWireObject, wireEqual } from '../../../../src/api/json/json.ts';
import { isAbsentInStatus } from '../../../../src/api/patch/patch-schemas.ts';

describe('toWireJson', () => {
  it('writes Dates in whole seconds and leaves out members without a value', () => {
    const value = {
      at: new Date('2000-01-01T00:00:00.999Z'),
      none: null,
      nothing: undefined,
      list: [{ a: null, b: '' }],
      zero: 0,
    };
    expect(toWireJson(value)).toEqual({ at: '2000-01-01T00:00:00Z', list: [{ b: '' }], zero: 0 });
  });

  it('copies all the way down', () => {
    const value = { list: [{ a: 1 }] };
    const copy = toWireObject(value, 'value');
    value.list.push({ a: 2 });
    expect(copy).toEqual({ list: [{ a: 1 }] });
  });

  it('gives no copy another prototype', () => {
    const copy = toWireObject(JSON.parse('{"a":{"__proto__":{"polluted":1},"b":1}}'), 'value');
    expect(copy).toStrictEqual({ a: { b: 1 } });
    expect(Object.getPrototypeOf(copy.a)).toBe(Object.prototype);
  });

  it.each([
    [{ a: [new Date(Number.NaN)] }],
    [{ a: [() => 1] }],
    [{ a: [Number.NaN] }],
  ])('refuses what JSON does not hold: %s', (value) => {
    expect(() => toWireJson(value, 'status')).toThrow(/status\.a\[0\]/);
  });

  it.each([['text'], [[]], [new Date(0)]])('takes no %j for an object', (value) => {
    expect(() => toWireObject(value, 'status')).toThrow(/status.*an object/);
  });
});

describe('wireEqual', () => {
  it.each([
    ['members in another order', { a: 1, b: 2 }, { b: 2, a: 1 }, true],
    ['a null and no member', { a: null }, {}, true],
    ['an empty and no text', { a: '' }, {}, false],
    ['a list and an object', { a: [] }, { a: {} }, false],
    ['lists of another length', [1], [1, 2], false],
    ['a member of the prototype', { constructor: 'x' }, {}, false],
  ])('compares %s', (_name, a, b, equal) => {
    expect(wireEqual(a, b, nullIsAbsent)).toBe(equal);
    expect(wireEqual(b, a, nullIsAbsent)).toBe(equal);
  });

  it.each([
    ['an empty and no text', { a: '' }, {}, true],
    ['an empty and no state', { state: { running: null } }, {}, true],
    ['a state that says nothing else and none', { state: { running: {} } }, {}, false],
    ['not started and unknown', { started: false }, {}, false],
    ['elements, which may be zero', { a: [0] }, { a: [] }, false],
  ])('sees through zero values in a status: %s', (_name, a, b, equal) => {
    expect(wireEqual(a, b, isAbsentInStatus)).toBe(equal);
    expect(wireEqual(b, a, isAbsentInStatus)).toBe(equal);
  });
});
