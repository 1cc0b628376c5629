import { describe, expect, it } from 'vitest';
import { counterKey, PooledDevice, PooledSlice } from '../../../../src/scheduler/devices/pooled-device.ts';
import { deviceOf, devicesNamed, nodeOf, sliceOf } from './devices-world.ts';

describe('a device of a slice', () => {
  const slice = new PooledSlice(sliceOf('s', devicesNamed('a')), 3);

  it('has a name in the cluster, and a slice that is read once', () => {
    expect(slice.devices?.map(({ key }) => key)).toEqual(['gpu.example.com/p/a']);
    expect(slice.devices?.[0]).toBe(slice.devices?.[0]);
    expect(slice.devices?.[0]?.slice).toBe(slice);
  });

  it('counts what it uses of a counter together', () => {
    const uses = [
      { counterSet: 's', counters: { mem: { value: '1' } } },
      { counterSet: 's', counters: { mem: { value: '2' } } },
    ];
    const device = new PooledDevice(slice, deviceOf('b', {}, { consumesCounters: uses }));
    expect([...device.counters]).toEqual([[counterKey('s', 'mem'), 3_000_000_000n]]);
  });

  it('is shared only where it says so', () => {
    const shared = [true, false, undefined].map(
      (allowMultipleAllocations) =>
        new PooledDevice(slice, { name: 'b', ...(allowMultipleAllocations !== undefined && { allowMultipleAllocations }) }),
    );
    expect(shared.map(({ isShared }) => isShared)).toEqual([true, false, false]);
    expect(shared.map(({ selectable }) => selectable.allowMultipleAllocations)).toEqual([true, false, undefined]);
  });

  it('is for the nodes that it names where the slice leaves that to it', () => {
    const each = new PooledSlice(sliceOf('s', [deviceOf('a', {}, { nodeName: 'n1' })], { perDeviceNodeSelection: true }), 0);
    const test = each.devices?.[0]?.nodeTest;
    expect([test?.(nodeOf('n0')), test?.(nodeOf('n1'))]).toEqual([false, true]);
    expect(slice.devices?.[0]?.nodeTest).toBeUndefined();
  });
});

describe('a slice', () => {
  it('with a quantity that is none has no devices that can be read', () => {
    const wrong = sliceOf('s', [deviceOf('a', {}, { capacity: { memory: { value: 'much' } } })]);
    expect(new PooledSlice(wrong, 0).devices).toBeUndefined();
  });

  it('with counters is everywhere, whatever node it names', () => {
    const withCounters = new PooledSlice(sliceOf('s', [], { sharedCounters: [{ name: 's', counters: {} }] }), 0);
    expect([withCounters.isEverywhere, withCounters.isOwn]).toEqual([true, false]);
    const own = new PooledSlice(sliceOf('s', []), 0);
    expect([own.isEverywhere, own.isOwn]).toEqual([false, true]);
  });
});
