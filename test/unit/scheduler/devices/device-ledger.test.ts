import { describe, expect, it } from 'vitest';
import { type CapacityUse, capacityAmount } from '../../../../src/scheduler/devices/capacity-rules.ts';
import { DeviceLedger, TakenDevices } from '../../../../src/scheduler/devices/device-ledger.ts';
import type { AllocatedDevices } from '../../../../src/scheduler/devices/device-types.ts';
import type { PooledDevice } from '../../../../src/scheduler/devices/pooled-device.ts';
import { type SlicePool, SlicePools } from '../../../../src/scheduler/devices/slice-pools.ts';
import { deviceOf, nodeOf, nothingAllocated, poolOf, sliceOf } from './devices-world.ts';

interface World {
  readonly ledger: DeviceLedger;
  readonly pool: SlicePool;
  readonly a: PooledDevice;
  readonly b: PooledDevice;
  /** Uses another counter. */
  readonly c: PooledDevice;
}

/** Two devices, each of which uses 2 of 3 of a counter; `a` can be shared and has a memory of 10. */
function worldWith(allocated: Partial<AllocatedDevices> = {}): World {
  const consumesCounters = [{ counterSet: 's', counters: { mem: { value: '2' } } }];
  const ofOther = { consumesCounters: [{ counterSet: 's', counters: { io: { value: '1' } } }] };
  const shared = { allowMultipleAllocations: true, capacity: { memory: { value: '10' } }, consumesCounters };
  const pool = poolOf('p', 2);
  const [reached] = new SlicePools([
    sliceOf('x', [deviceOf('a', {}, shared), deviceOf('b', {}, { consumesCounters }), deviceOf('c', {}, ofOther)], { pool }),
    sliceOf('y', [], { pool, sharedCounters: [{ name: 's', counters: { mem: { value: '3' }, io: { value: '9' } } }] }),
  ]).reachedBy(nodeOf());
  const [a, b, c] = reached?.devices ?? [];
  if (reached === undefined || a === undefined || b === undefined || c === undefined) throw new Error('no devices');
  return { ledger: new DeviceLedger(new TakenDevices({ ...nothingAllocated, ...allocated })), pool: reached, a, b, c };
}

const memory = (quantity: string): CapacityUse => new Map([['memory', capacityAmount(quantity)]]);
const none: CapacityUse = new Map();
const key = 'gpu.example.com/p/a';

describe('a device', () => {
  it('is in use while it is taken, and for that claim', () => {
    const { ledger, pool, b } = worldWith();
    const taken = ledger.take(1, pool, b, none);
    expect([ledger.isInUse(b), ledger.isInUseBy(b, 1), ledger.isInUseBy(b, 0)]).toEqual([true, true, false]);
    ledger.giveBack(taken);
    expect([ledger.isInUse(b), ledger.isInUseBy(b, 1)]).toEqual([false, false]);
  });

  it('is in use where another claim has it as a whole', () => {
    const { ledger, a, b } = worldWith({ devices: new Set([key]) });
    expect([ledger.isInUse(a), ledger.isInUse(b)]).toEqual([true, false]);
  });
});

describe('a shared device', () => {
  it('is not in use by a share, and has the less room', () => {
    const { ledger, pool, a } = worldWith({ consumedCapacity: new Map([[key, { memory: '3' }]]) });
    expect([ledger.hasRoom(a, memory('7')), ledger.hasRoom(a, memory('8'))]).toEqual([true, false]);
    const taken = ledger.take(0, pool, a, memory('4'));
    expect([ledger.isInUse(a), ledger.hasRoom(a, memory('3')), ledger.hasRoom(a, memory('4'))]).toEqual([false, true, false]);
    ledger.giveBack(taken);
    expect(ledger.hasRoom(a, memory('7'))).toBe(true);
  });

  it('has no room where it cannot be read what is used up', () => {
    const { ledger, a } = worldWith({ consumedCapacity: new Map([[key, { memory: 'much' }]]) });
    expect(ledger.hasRoom(a, memory('0'))).toBe(false);
  });

  it('uses counters once, however many shares of it are taken', () => {
    const { ledger, pool, a } = worldWith();
    expect(ledger.isCounted(a)).toBe(false);
    const first = ledger.take(0, pool, a, memory('1'));
    expect([ledger.isCounted(a), ledger.counterLeft(pool, 's/mem')]).toEqual([true, 1_000_000_000n]);
    const second = ledger.take(0, pool, a, memory('1'));
    expect(ledger.counterLeft(pool, 's/mem')).toBe(1_000_000_000n);
    ledger.giveBack(second);
    expect([ledger.isCounted(a), ledger.counterLeft(pool, 's/mem')]).toEqual([true, 1_000_000_000n]);
    ledger.giveBack(first);
    expect([ledger.isCounted(a), ledger.counterLeft(pool, 's/mem')]).toEqual([false, 3_000_000_000n]);
  });
});

describe('counters', () => {
  it('have what devices that are taken leave', () => {
    const { ledger, pool, a, b } = worldWith();
    expect(ledger.hasCounters(pool, b)).toBe(true);
    ledger.take(0, pool, b, none);
    expect(ledger.hasCounters(pool, a)).toBe(false);
  });

  it.each<[string, Partial<AllocatedDevices>]>([
    ['as a whole', { devices: new Set([key]) }],
    ['as a share', { sharedDevices: new Set([key]) }],
    ['as a share with a capacity', { consumedCapacity: new Map([[key, {}]]) }],
  ])('have what devices of other claims leave, taken %s', (_name, allocated) => {
    const { ledger, pool, b } = worldWith(allocated);
    expect([ledger.hasCounters(pool, b), ledger.counterLeft(pool, 's/mem')]).toEqual([false, 1_000_000_000n]);
  });

  it('below zero keep back every device that uses one', () => {
    const both = new Set([key, 'gpu.example.com/p/b']);
    const { ledger, pool, c } = worldWith({ devices: both });
    expect(worldWith().ledger.hasCounters(pool, c)).toBe(true);
    expect([ledger.hasCounters(pool, c), ledger.counterLeft(pool, 's/mem')]).toEqual([false, -1_000_000_000n]);
  });
});
