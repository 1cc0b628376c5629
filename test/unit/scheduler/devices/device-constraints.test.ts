import { describe, expect, it } from 'vitest';
import { attributeConstraint } from '../../../../src/scheduler/devices/device-constraints.ts';
import type { DeviceAttribute } from '../../../../src/scheduler/devices/device-types.ts';
import { PooledDevice, PooledSlice } from '../../../../src/scheduler/devices/pooled-device.ts';
import { driver, sliceOf } from './devices-world.ts';

const slice = new PooledSlice(sliceOf('s', []), 0);

function deviceWith(attributes: Readonly<Record<string, DeviceAttribute>>): PooledDevice {
  return new PooledDevice(slice, { name: 'd', attributes });
}

const numa = (int: number) => deviceWith({ numa: { int } });
const match = (requests: readonly string[] = []) => attributeConstraint('c', { requests, matchAttribute: `${driver}/numa` });
const distinct = (requests: readonly string[] = []) =>
  attributeConstraint('c', { requests, distinctAttribute: `${driver}/numa` });

describe('devices with the same value', () => {
  it('may be taken together, others not', () => {
    const constraint = match();
    expect([1, 1, 2].map((value) => constraint.add('r', undefined, numa(value)))).toEqual([true, true, false]);
  });

  it('leave no trace when they are given back', () => {
    const constraint = match();
    constraint.add('r', undefined, numa(1));
    constraint.remove('r', undefined);
    expect(constraint.add('r', undefined, numa(2))).toBe(true);
  });

  it('need the attribute', () => {
    expect(match().add('r', undefined, deviceWith({}))).toBe(false);
    expect(match().allows(deviceWith({}))).toBe(false);
  });

  it.each<[string, DeviceAttribute, DeviceAttribute, boolean]>([
    ['strings', { string: '1' }, { string: '1' }, true],
    ['versions', { version: '1.0.0' }, { version: '1.0.1' }, false],
    ['truths', { bool: false }, { bool: false }, true],
    ['other types', { string: '1' }, { int: 1 }, false],
    ['unknown types', {}, {}, false],
  ])('are compared by type and value: %s', (_name, first, second, expected) => {
    const constraint = match();
    expect(constraint.add('r', undefined, deviceWith({ numa: first }))).toBe(true);
    expect(constraint.add('r', undefined, deviceWith({ numa: second }))).toBe(expected);
  });

  it('may name the attribute with their domain or without it, but for that of others', () => {
    const withDomain = deviceWith({ [`${driver}/numa`]: { int: 1 }, numa: { int: 2 } });
    const constraint = match();
    constraint.add('r', undefined, numa(1));
    expect(constraint.add('r', undefined, withDomain)).toBe(true);
    const other = attributeConstraint('c', { matchAttribute: 'other.example.com/numa' });
    expect(other.add('r', undefined, numa(1))).toBe(false);
    expect(attributeConstraint('c', { matchAttribute: 'numa' }).add('r', undefined, deviceWith({ other: { int: 1 } }))).toBe(
      false,
    );
  });
});

it('takes integers for equal that are neighbours beyond the exact ones', () => {
  const constraint = match();
  const large = JSON.parse('[9007199254740992, 9007199254740993]') as readonly number[];
  expect(large.map((value) => constraint.add('r', undefined, numa(value)))).toEqual([true, true]);
});

describe('a constraint of some requests', () => {
  it.each([
    ['the request', ['r'], 'r', undefined, true],
    ['another request', ['q'], 'r', undefined, false],
    ['an alternative of the request', ['r'], 'r', 's', true],
    ['that alternative', ['r/s'], 'r', 's', true],
    ['another alternative', ['r/t'], 'r', 's', false],
  ])('concerns %s', (_name, requests, request, subRequest, concerned) => {
    const constraint = match(requests);
    expect(constraint.appliesTo(request, subRequest)).toBe(concerned);
    constraint.add('r', 's', numa(1));
    constraint.add('q', undefined, numa(1));
    expect(constraint.add(request, subRequest, numa(2))).toBe(!concerned);
  });
});

describe('devices with different values', () => {
  it('may be taken for several requests, equal ones not', () => {
    const constraint = distinct();
    const taken = [constraint.add('a', undefined, numa(1)), constraint.add('b', undefined, numa(2))];
    expect([...taken, constraint.add('c', undefined, numa(1))]).toEqual([true, true, false]);
  });

  it('count by the last one of a request alone, as in kube-scheduler', () => {
    const constraint = distinct();
    expect([1, 2, 1].map((value) => constraint.add('a', undefined, numa(value)))).toEqual([true, true, true]);
    expect(constraint.add('a', undefined, numa(1))).toBe(false);
    constraint.remove('a', undefined);
    expect(constraint.add('a', undefined, numa(1))).toBe(true);
    expect(constraint.isMonotonic).toBe(false);
  });

  it('need the attribute, of a type that is known', () => {
    const constraint = distinct();
    expect(constraint.add('a', undefined, deviceWith({}))).toBe(false);
    expect(constraint.add('a', undefined, numa(1))).toBe(true);
    expect(constraint.add('b', undefined, deviceWith({ numa: {} }))).toBe(false);
  });
});

it('asks for something that is known', () => {
  expect(() => attributeConstraint('claim d/c, constraint #0', { requests: ['r'] })).toThrow(
    'claim d/c, constraint #0: empty constraint',
  );
});
