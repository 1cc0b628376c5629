import { describe, expect, it } from 'vitest';
import { Patience, RecurringValues } from '../../../../src/scheduler/framework/recurring-values.ts';

function valuesOf(most: number) {
  const values = new RecurringValues<object>();
  return { values, get: (key: string) => values.get(key, most, () => ({ key })) };
}

describe('RecurringValues', () => {
  it('keeps nothing for a key that comes once', () => {
    const { values, get } = valuesOf(2);
    for (let index = 0; index < 1000; index += 1) expect(get(`once ${index}`)).toBeUndefined();
    expect(values.size).toBe(0);
  });

  it('keeps a value for a key that comes again, and gives the same one from then on', () => {
    const { get } = valuesOf(2);
    expect(get('a')).toBeUndefined();
    const value = get('a');
    expect(value).toEqual({ key: 'a' });
    expect(get('a')).toBe(value);
  });

  it('gives the place of the value that was used longest ago', () => {
    const { values, get } = valuesOf(2);
    for (const key of ['a', 'a', 'b', 'b', 'a']) get(key);
    get('c');
    expect(get('c')).toEqual({ key: 'c' });
    expect(values.size).toBe(2);
    const kept = get('a');
    expect(kept).toEqual({ key: 'a' });
    expect(get('b')).toBeUndefined();
  });

  it('lets keys that take turns not push one another out', () => {
    const { get } = valuesOf(2);
    for (const key of ['a', 'b', 'c', 'a', 'b']) get(key);
    const kept = [get('a'), get('b')];
    for (let turn = 0; turn < 5; turn += 1) {
      expect(get('c')).toBeUndefined();
      expect([get('a'), get('b')].map((value, index) => value === kept[index])).toEqual([true, true]);
    }
  });

  it('remembers so many keys alone that came once', () => {
    const { get } = valuesOf(2);
    get('early');
    for (let index = 0; index < 256; index += 1) get(`once ${index}`);
    expect(get('early')).toBeUndefined();
    expect(get('once 255')).toEqual({ key: 'once 255' });
  });

  it('keeps nothing for a long key, and keeps fewer once fewer may be kept', () => {
    const { values, get } = valuesOf(3);
    const long = 'x'.repeat(2049);
    expect([get(long), get(long), get(long)]).toEqual([undefined, undefined, undefined]);
    for (const key of ['a', 'a', 'b', 'b', 'c', 'c']) get(key);
    values.get('d', 1, () => ({}));
    expect(values.get('d', 1, () => ({}))).toBeDefined();
    expect(values.size).toBe(1);
  });

  it('keeps fewer also where the value is known, and that one of them', () => {
    const { values, get } = valuesOf(3);
    for (const key of ['a', 'a', 'b', 'b', 'c', 'c']) get(key);
    const a = get('a');
    expect(values.get('a', 2, () => ({}))).toBe(a);
    expect(values.size).toBe(2);
    expect(values.get('a', 1, () => ({}))).toBe(a);
    expect(values.size).toBe(1);
  });
});

describe('Patience', () => {
  it('asks one question of eight once 32 were of no use, and all again after one that was', () => {
    const patience = new Patience();
    const asked = (times: number) => Array.from({ length: times }, () => patience.ask()).filter(Boolean).length;
    expect([asked(32), asked(80)]).toEqual([32, 10]);
    patience.found();
    expect(asked(32)).toBe(32);
  });
});
