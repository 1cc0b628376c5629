import { describe, expect, it } from 'vitest';
import type { WireNode } from '../../../../src/api/json/types.ts';
import type { ClaimAllocator } from '../../../../src/scheduler/devices/claim-allocator.ts';
import { DeviceAllocationError } from '../../../../src/scheduler/devices/device-allocation-error.ts';
import type { ResourceClaim } from '../../../../src/scheduler/devices/device-types.ts';
import {
  allocatorOf,
  attributeSelector,
  claimOf,
  deviceOf,
  devicesNamed,
  driver,
  judgeByText,
  manyDevices,
  namesOf,
  nodeOf,
  poolOf,
  requestOf,
  sliceOf,
} from './devices-world.ts';

function scopeOf(allocator: ClaimAllocator, ...claims: readonly ResourceClaim[]): string {
  try {
    return String(namesOf(allocator.allocate(nodeOf(), claims)));
  } catch (error) {
    return error instanceof DeviceAllocationError ? error.scope : 'other';
  }
}

describe('an allocator', () => {
  it('judges one node after the other, each by itself', () => {
    const allocator = allocatorOf([
      sliceOf('x', devicesNamed('a'), { pool: poolOf('x') }),
      sliceOf('y', devicesNamed('b'), { pool: poolOf('y'), nodeName: 'n1' }),
    ]);
    const claims = [claimOf([requestOf('r')])];
    const judge = (node: WireNode) => namesOf(allocator.allocate(node, claims));
    expect([judge(nodeOf('n0')), judge(nodeOf('n1')), judge(nodeOf('n2')), judge(nodeOf('n0'))]).toEqual([
      [['a']],
      [['b']],
      'none',
      [['a']],
    ]);
  });

  it('asks a selector once about a device that several nodes reach', () => {
    const asked: string[] = [];
    const matches: typeof judgeByText = (expression, device) => {
      asked.push(expression);
      return judgeByText(expression, device);
    };
    const allocator = allocatorOf([sliceOf('x', [deviceOf('a', { fast: 1 })], { allNodes: true })], { selectors: { matches } });
    const claims = [claimOf([requestOf('r', 1, { selectors: [attributeSelector('fast')] })])];
    for (const name of ['n0', 'n1', 'n2']) expect(namesOf(allocator.allocate(nodeOf(name), claims))).toEqual([['a']]);
    expect(asked).toEqual(['fast']);
  });

  it('counts what each pool has, also where pools of two drivers have one name', () => {
    const consumesCounters = [{ counterSet: 's', counters: { mem: { value: '2' } } }];
    const pool = poolOf('p', 2);
    const ofDriver = (name: string, value: string) => [
      sliceOf(`x-${name}`, [deviceOf(name, {}, { consumesCounters })], { pool, driver: name }),
      sliceOf(`y-${name}`, [], { pool, driver: name, sharedCounters: [{ name: 's', counters: { mem: { value } } }] }),
    ];
    const claims = [claimOf([requestOf('r', 2)])];
    const judge = (first: string, second: string) =>
      namesOf(allocatorOf([...ofDriver('a', first), ...ofDriver('b', second)]).allocate(nodeOf(), claims));
    expect([judge('2', '2'), judge('2', '1'), judge('1', '4')]).toEqual([[['a', 'b']], 'none', 'none']);
  });

  it('has an allocation for no claims', () => {
    expect(allocatorOf([]).allocate(nodeOf(), [])).toEqual([]);
  });

  it('does not count with an invalid pool, and says so where the rest is not enough', () => {
    const invalid = sliceOf('x', devicesNamed('a', 'a'));
    const other = sliceOf('y', devicesNamed('b'), { pool: poolOf('o') });
    expect(scopeOf(allocatorOf([invalid, other]), claimOf([requestOf('r')]))).toBe('b');
    expect(scopeOf(allocatorOf([invalid, other]), claimOf([requestOf('r', 2)]))).toBe('node');
  });

  it('asks for the time before each selector: one may take as long as thousands of looks', () => {
    let asked = 0;
    const matches: typeof judgeByText = () => {
      asked += 1;
      return false;
    };
    const slices = [sliceOf('x', manyDevices(100))];
    const claim = claimOf([requestOf('r', 1, { selectors: [attributeSelector('fast')] })]);
    expect(scopeOf(allocatorOf(slices, { selectors: { matches }, isOverdue: () => asked >= 3 }), claim)).toBe('time');
    expect(asked).toBe(3);
  });

  it('tells whom a failure concerns', () => {
    expect(scopeOf(allocatorOf([]), claimOf([requestOf('r', 1, { deviceClassName: 'other' })]))).toBe('claims');
    expect(scopeOf(allocatorOf([]), claimOf([requestOf('r')], { constraints: [{}] }))).toBe('claims');
    const claim = claimOf([requestOf('r', 29)], { constraints: [{ distinctAttribute: `${driver}/numa` }] });
    const slices = [
      sliceOf(
        'x',
        manyDevices(28, (index) => ({ numa: index })),
      ),
    ];
    expect(scopeOf(allocatorOf(slices, { isOverdue: () => true }), claim)).toBe('time');
  });
});
