import { describe, expect, it } from 'vitest';
import { CelMap } from '../../../../../src/scheduler/devices/cel/values.ts';
import { deviceValue } from '../../../../../src/scheduler/devices/selectors/device-values.ts';

describe('a device as a value', () => {
  const attributes = { model: { string: 'a' }, 'd.com/model': { string: 'b' }, 'x/a/b': { int: 1 } };
  const value = deviceValue({ driver: 'gpu', attributes, capacity: {} }) as CelMap;

  it('has its attributes by domain, those without one in that of the driver', () => {
    const domains = value.get('attributes') as CelMap;
    expect([...domains.entries()].map(([domain, ids]) => [domain, [...(ids as CelMap).entries()]])).toEqual([
      ['gpu', [['model', 'a']]],
      ['d.com', [['model', 'b']]],
      ['x', [['a/b', 1n]]],
    ]);
  });

  it('has an empty domain for each that is not there', () => {
    const other = (value.get('capacity') as CelMap).find('other');
    expect(other).toBeInstanceOf(CelMap);
    expect((other as CelMap).size).toBe(0);
  });
});
