import { describe, expect, it } from 'vitest';
import {
  allocatorOf,
  alternativesOf,
  attributeSelector,
  claimOf,
  deviceOf,
  devicesNamed,
  driver,
  given,
  manyDevices,
  nothingAllocated,
  poolOf,
  requestOf,
  sliceOf,
} from './devices-world.ts';

const match = { matchAttribute: `${driver}/numa` };
const allocated = (...names: readonly string[]) => ({
  allocated: { ...nothingAllocated, devices: new Set(names.map((name) => `${driver}/p/${name}`)) },
});

describe('the first devices that fit', () => {
  it('are taken in the order of the pools, for one request after the other', () => {
    const pools = allocatorOf([sliceOf('x', devicesNamed('b', 'a')), sliceOf('y', devicesNamed('c'), { pool: poolOf('o') })]);
    expect(given(pools, claimOf([requestOf('r'), requestOf('q')]), claimOf([requestOf('r')]))).toEqual([['c', 'b'], ['a']]);
  });

  it('are none where there are too few', () => {
    expect(given(allocatorOf([sliceOf('x', devicesNamed('a'))]), claimOf([requestOf('r', 2)]))).toBe('none');
  });

  it('leave out what other claims have, and what is tainted or not selected', () => {
    const tainted = deviceOf('b', { numa: 1 }, { taints: [{ key: 'old', effect: 'NoExecute' }] });
    const devices = [deviceOf('a', { numa: 1 }), tainted, deviceOf('c'), deviceOf('d', { numa: 1 })];
    const request = requestOf('r', 1, { selectors: [attributeSelector('numa')] });
    expect(given(allocatorOf([sliceOf('x', devices)], allocated('a')), claimOf([request]))).toEqual([['d']]);
  });

  it('are given back where what follows does not fit with them', () => {
    const devices = [deviceOf('a', { large: 1 }), deviceOf('b')];
    const small = requestOf('small');
    const large = requestOf('large', 1, { selectors: [attributeSelector('large')] });
    expect(given(allocatorOf([sliceOf('x', devices)]), claimOf([small, large]))).toEqual([['b', 'a']]);
    expect(given(allocatorOf([sliceOf('x', devices)]), claimOf([small]), claimOf([large]))).toEqual([['b'], ['a']]);
  });

  it('fulfil a constraint together', () => {
    const devices = [deviceOf('a', { numa: 1 }), deviceOf('b', { numa: 2 }), deviceOf('c', { numa: 2 })];
    expect(given(allocatorOf([sliceOf('x', devices)]), claimOf([requestOf('r', 2)], { constraints: [match] }))).toEqual([
      ['b', 'c'],
    ]);
  });

  it('have the counters that they use', () => {
    const using = (name: string, value: string) =>
      deviceOf(name, {}, { consumesCounters: [{ counterSet: 's', counters: { mem: { value } } }] });
    const pool = poolOf('p', 2);
    const counters = sliceOf('y', [], { pool, sharedCounters: [{ name: 's', counters: { mem: { value: '3' } } }] });
    const slices = [sliceOf('x', [using('a', '2'), using('b', '2'), using('c', '1')], { pool }), counters];
    expect(given(allocatorOf(slices), claimOf([requestOf('r', 2)]))).toEqual([['a', 'c']]);
    expect(given(allocatorOf(slices), claimOf([requestOf('r', 3)]))).toBe('none');
  });
});

describe('a request of all devices', () => {
  it('takes those that it selects, or fails', () => {
    const devices = [deviceOf('a', { numa: 1 }), deviceOf('b'), deviceOf('c', { numa: 1 })];
    const all = requestOf('r', 'All', { selectors: [attributeSelector('numa')] });
    expect(given(allocatorOf([sliceOf('x', devices)]), claimOf([all]))).toEqual([['a', 'c']]);
    expect(given(allocatorOf([sliceOf('x', devices)], allocated('c')), claimOf([all]))).toBe('none');
    expect(given(allocatorOf([sliceOf('x', [])]), claimOf([all]))).toBe('none');
  });

  it('needs pools that are whole', () => {
    const incomplete = sliceOf('x', devicesNamed('a'), { pool: poolOf('p', 2) });
    expect(() => given(allocatorOf([incomplete]), claimOf([requestOf('r', 'All')]))).toThrow(
      `claim d/c, request r: asks for all devices, but resource pool ${driver}/p is currently being updated`,
    );
    const invalid = sliceOf('x', devicesNamed('a', 'a'));
    expect(() => given(allocatorOf([invalid]), claimOf([requestOf('r', 'All')]))).toThrow('is currently invalid');
    const [all, broken] = [
      claimOf([requestOf('r', 'All')], { constraints: [{}] }),
      claimOf([requestOf('r')], { constraints: [{}] }),
    ];
    // of several errors the first one is told, as upstream finds them
    expect(() => given(allocatorOf([invalid]), all, broken)).toThrow('is currently invalid');
    expect(() => given(allocatorOf([invalid]), broken, all)).toThrow('empty constraint');
  });

  it('must not break a constraint of its claim', () => {
    const devices = [deviceOf('a', { numa: 1 }), deviceOf('b', { numa: 2 })];
    const claim = claimOf([requestOf('r', 'All')], { constraints: [match] });
    expect(() => given(allocatorOf([sliceOf('x', devices)]), claim)).toThrow(`cannot add device ${driver}/p/b`);
  });
});

describe('the first alternative that fits', () => {
  const slices = [sliceOf('x', devicesNamed('a', 'b', 'c'))];

  it('is taken', () => {
    expect(given(allocatorOf(slices), claimOf([alternativesOf('r', 4, 2, 1)]))).toEqual([['a', 'b']]);
  });

  it('is another one where the request after it needs more', () => {
    expect(given(allocatorOf(slices), claimOf([alternativesOf('r', 2, 1), requestOf('q', 2)]))).toEqual([['a', 'b', 'c']]);
  });
});

describe('more devices than a claim may have', () => {
  const slices = [sliceOf('x', manyDevices(40))];

  it('are refused where no alternative asks for less', () => {
    expect(() => given(allocatorOf(slices), claimOf([requestOf('r', 33)]))).toThrow(
      'claim d/c: number of requested devices 33 exceeds the claim limit of 32',
    );
    expect(given(allocatorOf(slices), claimOf([requestOf('r', 32)]))[0]).toHaveLength(32);
  });

  it('make the search take smaller alternatives', () => {
    const claim = claimOf([alternativesOf('r', 20, 10), alternativesOf('q', 20, 2)]);
    expect(given(allocatorOf(slices), claim)[0]).toHaveLength(22);
    const later = claimOf([requestOf('r', 10), alternativesOf('q', 30, 20)]);
    expect(given(allocatorOf(slices), later)[0]).toHaveLength(30);
  });

  it('of one alternative do not hide that another one wants a device that is taken', () => {
    const special = { selectors: [attributeSelector('special')], deviceClassName: 'any', allocationMode: 'ExactCount', count: 1 };
    const many = { name: 'many', deviceClassName: 'any', allocationMode: 'ExactCount', count: 32 };
    const claim = claimOf([requestOf('r'), { name: 'q', firstAvailable: [many, { name: 'one', ...special }] }]);
    expect(given(allocatorOf([sliceOf('x', [deviceOf('a', { special: 1 }), deviceOf('b')])]), claim)).toEqual([['b', 'a']]);
  });

  it('are none for a later claim, and an error for the first one, where all devices are too many', () => {
    const all = claimOf([
      requestOf('r'),
      {
        name: 'q',
        firstAvailable: [
          { name: 's', deviceClassName: 'any', allocationMode: 'All' },
          { name: 't', deviceClassName: 'any', allocationMode: 'ExactCount', count: 32 },
        ],
      },
    ]);
    expect(() => given(allocatorOf(slices), all)).toThrow('exceeds the claim limit');
  });
});

describe('admin access', () => {
  const slices = [sliceOf('x', devicesNamed('a', 'b'))];
  const admin = (name: string) => requestOf(name, 1, { adminAccess: true });

  it('is given to devices that others have', () => {
    expect(given(allocatorOf(slices, allocated('a', 'b')), claimOf([admin('r')]))).toEqual([['a']]);
  });

  it('is given once in a claim, and again in another one', () => {
    expect(given(allocatorOf(slices), claimOf([admin('r'), admin('q')]), claimOf([admin('r')]))).toEqual([['a', 'b'], ['a']]);
  });

  it('keeps the device from other claims of the pod', () => {
    expect(given(allocatorOf(slices), claimOf([admin('r')]), claimOf([requestOf('r')]))).toEqual([['a'], ['b']]);
  });
});

describe('a shared device', () => {
  const shared = deviceOf('a', {}, { allowMultipleAllocations: true, capacity: { memory: { value: '10' } } });
  const share = (name: string, memory: string) => requestOf(name, 1, { capacity: { requests: { memory } } });

  it('is given as often as it has room', () => {
    const allocator = allocatorOf([sliceOf('x', [shared])]);
    expect(given(allocator, claimOf([share('r', '4'), share('q', '6')]))).toEqual([['a', 'a']]);
    expect(given(allocator, claimOf([share('r', '5'), share('q', '6')]))).toBe('none');
  });

  it('is given once to one request', () => {
    expect(
      given(allocatorOf([sliceOf('x', [shared])]), claimOf([requestOf('r', 2, { capacity: { requests: { memory: '1' } } })])),
    ).toBe('none');
  });
});

describe('a search', () => {
  it('is as deep as its claims like', () => {
    const claims = Array.from({ length: 20_000 }, (_, index) => claimOf([requestOf('r')], {}, `c${index}`));
    const shared = deviceOf('a', {}, { allowMultipleAllocations: true });
    expect(given(allocatorOf([sliceOf('x', [shared])]), ...claims)).toHaveLength(20_000);
  });

  it('ends when its time is over', () => {
    let asked = 0;
    const isOverdue = () => ++asked > 3;
    const claim = claimOf([requestOf('r', 31)], { constraints: [{ distinctAttribute: `${driver}/numa` }] });
    const slices = [
      sliceOf(
        'x',
        manyDevices(30, (index) => ({ numa: index })),
      ),
    ];
    expect(() => given(allocatorOf(slices, { isOverdue }), claim)).toThrow('timed out trying to allocate devices');
    expect(asked).toBe(4);
  });
});
