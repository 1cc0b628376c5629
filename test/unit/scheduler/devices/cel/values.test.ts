import { describe, expect, it } from 'vitest';
import { CelMap, CelUint, characterCount, typeNameOf } from '../../../../../src/scheduler/devices/cel/values.ts';

describe('a map', () => {
  it('takes equal numbers of several kinds for one key when it is asked', () => {
    const map = new CelMap();
    map.set(1n, 'one');
    expect([map.get(1), map.get(new CelUint(1n)), map.get(1.5), map.get('1'), map.get(true)]).toEqual([
      'one',
      'one',
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('takes null for a value, for which nothing stands in', () => {
    const map = new CelMap({ fallback: 'other' });
    map.set('a', null);
    expect(map.find('a')).toBe(null);
  });

  it('has its fallback for what is not there, but does not hold it', () => {
    const map = new CelMap({ fallback: 'other' });
    expect([map.find('a'), map.get('a'), map.size]).toEqual(['other', undefined, 0]);
  });
});

describe('values', () => {
  it('know the names of their types', () => {
    expect([1n, 1, 'a', null, true, new CelUint(1n), new Uint8Array(0)].map(typeNameOf)).toEqual(
      'int double string null_type bool uint bytes'.split(' '),
    );
  });

  it('count characters, not units', () => {
    expect(characterCount('aé😀')).toBe(3);
  });
});
