import { describe, expect, it } from 'vitest';
import { claimOf, lateClass, podWith, VolumeWorld, zoneLabel, zoneNode } from './volume-world.ts';

const noRoom = 'node(s) did not have enough free storage';
const driver = (storageCapacity?: boolean): object => ({ metadata: { name: lateClass.provisioner }, spec: { storageCapacity } });
const inZone = { matchLabels: { [zoneLabel]: 'a' } };
const room = (parts: object): object => ({ storageClassName: 'late', nodeTopology: inZone, ...parts });

function judge(csiStorageCapacities: readonly object[], drivers: readonly object[] = [driver(true)], size?: string): unknown {
  const spec = size === undefined ? {} : { resources: { requests: { storage: size } } };
  const given = { persistentVolumeClaims: [claimOf('c', spec)], csiDrivers: drivers, csiStorageCapacities };
  return new VolumeWorld(given, { nodes: [zoneNode('n1'), zoneNode('n2', 'b')] }).judge(podWith('p', 'c'));
}

describe('room for a volume that is to be made', () => {
  it('is where the driver says that there is enough', () => {
    expect(judge([room({ capacity: '1Gi' })])).toEqual({ n2: noRoom });
    expect(judge([room({ capacity: '1Gi', nodeTopology: {} })])).toEqual({});
    expect(judge([room({ capacity: '1Mi' }), room({ capacity: '2Gi' })])).toEqual({ n2: noRoom });
  });

  it.each([
    ['where it says nothing', []],
    ['for less', [room({ capacity: '1023Mi' })]],
    ['without a size', [room({})]],
    ['for no such volume, however much there is in all', [room({ capacity: '5Gi', maximumVolumeSize: '1Mi' })]],
    ['of another class', [room({ capacity: '5Gi', storageClassName: 'other' })]],
    ['without a place', [room({ capacity: '5Gi', nodeTopology: undefined })]],
    [
      'of a place that breaks a rule',
      [room({ capacity: '5Gi', nodeTopology: { matchExpressions: [{ key: 'a', operator: 'Gt' }] } })],
    ],
  ])('is nowhere %s', (_what, capacities) => {
    expect(judge(capacities)).toEqual({ n1: noRoom, n2: noRoom });
  });

  it('is as large as the largest volume, where the driver says that', () => {
    expect(judge([room({ capacity: '1Mi', maximumVolumeSize: '1Gi' })])).toEqual({ n2: noRoom });
  });

  it('is counted in whole bytes, rounded up', () => {
    expect(judge([room({ capacity: '1000m' })], undefined, '1500m')).toEqual({ n1: noRoom, n2: noRoom });
    expect(judge([room({ capacity: '1500m' })], undefined, '2')).toEqual({ n2: noRoom });
  });

  it('is everywhere for a driver that does not count, and for a claim that says no size', () => {
    for (const drivers of [[driver(false)], [driver()], []]) expect(judge([], drivers)).toEqual({});
    const given = { persistentVolumeClaims: [claimOf('c', { resources: {} })], csiDrivers: [driver(true)] };
    expect(new VolumeWorld(given).judge(podWith('p', 'c'))).toEqual({});
  });
});

describe('places where a class has volumes made', () => {
  const allowed = (allowedTopologies: readonly object[] | undefined): unknown => {
    const given = { persistentVolumeClaims: [claimOf('c')], storageClasses: [{ ...lateClass, allowedTopologies }] };
    return new VolumeWorld(given, { nodes: [zoneNode('n1'), zoneNode('n2', 'b')] }).judge(podWith('p', 'c'));
  };
  const none = "node(s) didn't find available persistent volumes to bind";
  const term = (...values: readonly string[]): object => ({ matchLabelExpressions: [{ key: zoneLabel, values }] });

  it.each([
    [undefined, {}],
    [[], {}],
    [[term('a')], { n2: none }],
    [[term('c'), term('b')], { n1: none }],
    [[term('a', 'b')], {}],
    [[{}], { n1: none, n2: none }],
    [[{ matchLabelExpressions: [] }], { n1: none, n2: none }],
    [[term(), term('a')], { n2: none }],
  ])('%j', (given, answer) => {
    expect(allowed(given)).toEqual(answer);
  });
});
