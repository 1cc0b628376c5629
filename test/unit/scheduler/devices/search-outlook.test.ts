import { describe, expect, it } from 'vitest';
import type { ClaimAllocator } from '../../../../src/scheduler/devices/claim-allocator.ts';
import type { ResourceClaim, ResourceSlice, SliceDevice } from '../../../../src/scheduler/devices/device-types.ts';
import {
  allocatorOf,
  attributeSelector,
  claimOf,
  deviceOf,
  driver,
  given,
  manyDevices,
  poolOf,
  requestOf,
  sliceOf,
} from './devices-world.ts';

/** How often the time was asked for: as a search begins, before each question to a selector, and once for 128 looks at devices. */
function patience(most: number) {
  let asked = 0;
  return { isOverdue: () => ++asked > most, asked: () => asked };
}

/** What one claim is given, if that takes no more than 50,000 looks. */
function withinBounds(slices: readonly ResourceSlice[], ...claims: readonly ResourceClaim[]): ReturnType<typeof given> {
  const allocator: ClaimAllocator = allocatorOf(slices, { isOverdue: patience(400).isOverdue });
  return given(allocator, ...claims);
}

const numa = (attribute = 'numa') => ({ constraints: [{ matchAttribute: `${driver}/${attribute}` }] });
const groups = (count: number, size: number) => manyDevices(count, (index) => ({ numa: Math.floor(index / size) }));
const using = (device: SliceDevice): SliceDevice => ({
  ...device,
  consumesCounters: [{ counterSet: 's', counters: { mem: { value: '1' } } }],
});

describe('a search without hope ends soon', () => {
  it('where there are too few devices', () => {
    expect(withinBounds([sliceOf('x', manyDevices(31))], claimOf([requestOf('r', 32)]))).toBe('none');
  });

  it('where too few devices have something in common', () => {
    expect(withinBounds([sliceOf('x', groups(124, 31))], claimOf([requestOf('r', 32)], numa()))).toBe('none');
  });

  it('where two requests want the same devices', () => {
    expect(withinBounds([sliceOf('x', groups(124, 31))], claimOf([requestOf('r', 16), requestOf('q', 16)], numa()))).toBe('none');
  });

  it('where two claims want the same devices', () => {
    expect(withinBounds([sliceOf('x', manyDevices(31))], claimOf([requestOf('r', 16)]), claimOf([requestOf('r', 16)]))).toBe(
      'none',
    );
  });

  it('where a later request has no device at all', () => {
    const nothing = requestOf('q', 1, { selectors: [attributeSelector('other')] });
    expect(withinBounds([sliceOf('x', manyDevices(64))], claimOf([requestOf('r', 16), nothing]))).toBe('none');
  });

  it('where there are too few counters', () => {
    const pool = poolOf('p', 2);
    const counters = sliceOf('y', [], { pool, sharedCounters: [{ name: 's', counters: { mem: { value: '31' } } }] });
    expect(withinBounds([sliceOf('x', manyDevices(64).map(using), { pool }), counters], claimOf([requestOf('r', 32)]))).toBe(
      'none',
    );
  });
});

describe('a long search that has hope', () => {
  it('finds the same devices as without the outlook', () => {
    // 20 of 21 of the first group, and then one after the other until the last device that fits
    const devices = [...groups(84, 21), ...manyDevices(22).map((_, index) => deviceOf(`last${index}`, { numa: 9 }))];
    const claim = claimOf([requestOf('r', 22)], numa());
    expect(withinBounds([sliceOf('x', devices)], claim)[0]).toEqual(Array.from({ length: 22 }, (_, index) => `last${index}`));
  });

  it('meets the errors that it would meet without the outlook', () => {
    const failing = requestOf('q', 1, { selectors: [attributeSelector('!')] });
    const { isOverdue, asked } = patience(400);
    const allocator = allocatorOf([sliceOf('x', manyDevices(18))], { isOverdue });
    expect(() => given(allocator, claimOf([requestOf('r', 17), failing]))).toThrow('selector #0: no such key');
    const hopeless = allocatorOf([sliceOf('x', manyDevices(12))]);
    expect(given(hopeless, claimOf([requestOf('r', 13), failing]))).toBe('none');
    // as it begins, and for the selector
    expect(asked()).toBe(2);
  });

  it('may take a shared device for several requests', () => {
    const shared = { allowMultipleAllocations: true, capacity: { memory: { value: '2' } } };
    const devices = manyDevices(12).map((device) => ({ ...device, ...shared }));
    const share = (name: string) => requestOf(name, 12, { capacity: { requests: { memory: '1' } } });
    const third = requestOf('z', 1, { capacity: { requests: { memory: '1' } } });
    expect(withinBounds([sliceOf('x', devices)], claimOf([share('r'), share('q')]))[0]).toHaveLength(24);
    expect(
      withinBounds(
        [sliceOf('x', devices)],
        claimOf([requestOf('r', 11, { capacity: { requests: { memory: '1' } } }), share('q'), third]),
      )[0],
    ).toHaveLength(24);
  });

  it('may give one device to several claims with admin access', () => {
    const admin = (name: string) => claimOf([requestOf('r', 12, { adminAccess: true })], {}, name);
    const hard = claimOf([requestOf('r', 5)], numa(), 'x');
    const devices = [...groups(48, 4), ...manyDevices(5).map((_, index) => deviceOf(`last${index}`, { numa: 99 }))];
    const found = withinBounds([sliceOf('x', devices)], admin('a'), admin('b'), hard);
    expect(found[2]).toEqual(['last0', 'last1', 'last2', 'last3', 'last4']);
  });
});
