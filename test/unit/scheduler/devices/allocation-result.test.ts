import { describe, expect, it } from 'vitest';
import type { DeviceClass, DeviceNodeSelector, SliceDevice, SliceSpec } from '../../../../src/scheduler/devices/device-types.ts';
import {
  allocatorOf,
  alternativesOf,
  claimOf,
  deviceOf,
  devicesNamed,
  driver,
  nodeOf,
  poolOf,
  requestOf,
  sliceOf,
} from './devices-world.ts';

const opaque = (n: number) => ({ opaque: { driver, parameters: { n } } });

describe('the result of a device', () => {
  const resultOf = (device: SliceDevice, request = requestOf('r')) =>
    allocatorOf([sliceOf('x', [device])]).allocate(nodeOf(), [claimOf([request])])?.[0]?.devices?.results;

  it('says what was given', () => {
    expect(resultOf(deviceOf('a'))).toEqual([{ request: 'r', driver, pool: 'p', device: 'a' }]);
  });

  it('has what the request and the device add', () => {
    const binding = { bindingConditions: ['ready'], bindingFailureConditions: ['failed'] };
    const tolerations = [{ key: 'old', operator: 'Exists' }];
    expect(resultOf(deviceOf('a', {}, binding), requestOf('r', 1, { adminAccess: true, tolerations }))).toEqual([
      { request: 'r', driver, pool: 'p', device: 'a', adminAccess: true, tolerations, ...binding },
    ]);
  });

  it('of a share has its id and what it uses up', () => {
    const shared = { allowMultipleAllocations: true, capacity: { memory: { value: '10' }, io: { value: '1k' } } };
    const request = requestOf('r', 1, { capacity: { requests: { memory: '0.5' } } });
    expect(resultOf(deviceOf('a', {}, shared), request)).toEqual([
      { request: 'r', driver, pool: 'p', device: 'a', shareID: 'share-1', consumedCapacity: { memory: '500m', io: '1k' } },
    ]);
  });
});

describe('the nodes of a result', () => {
  const selectorOf = (...slices: readonly [readonly SliceDevice[], Partial<SliceSpec>][]) => {
    const named = slices.map(([devices, more], index) =>
      sliceOf(`s${index}`, devices, { pool: poolOf('p', slices.length), ...more }),
    );
    const count = slices.reduce((sum, [devices]) => sum + devices.length, 0);
    return allocatorOf(named).allocate(nodeOf('n0', { zone: 'x' }), [claimOf([requestOf('r', count)])])?.[0]?.nodeSelector;
  };
  const inZones = (...values: readonly string[]): DeviceNodeSelector => ({
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values }] }],
  });
  const thisNode = { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n0'] }] }] };

  it('are all, where the devices are for all', () => {
    expect(selectorOf([devicesNamed('a'), { allNodes: true }])).toBeUndefined();
  });

  it('are the one that has a device, or to which it is bound', () => {
    expect(selectorOf([devicesNamed('a'), {}])).toEqual(thisNode);
    expect(selectorOf([[deviceOf('a', {}, { bindsToNode: true })], { allNodes: true }])).toEqual(thisNode);
    expect(selectorOf([[deviceOf('a', {}, { nodeName: 'n0' })], { perDeviceNodeSelection: true }])).toEqual(thisNode);
  });

  it('are those that all devices select, each requirement once', () => {
    const fields = { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['n9'] }] }] };
    expect(
      selectorOf(
        [devicesNamed('a'), { nodeSelector: inZones('x', 'y') }],
        [devicesNamed('b'), { nodeSelector: inZones('y', 'x') }],
        [devicesNamed('c'), { nodeSelector: inZones('x') }],
        [devicesNamed('d'), { nodeSelector: fields }],
      ),
    ).toEqual({
      nodeSelectorTerms: [
        {
          matchFields: fields.nodeSelectorTerms[0]?.matchFields,
          matchExpressions: [inZones('x', 'y'), inZones('x')].flatMap(
            (each) => each.nodeSelectorTerms[0]?.matchExpressions ?? [],
          ),
        },
      ],
    });
  });

  it('cannot be told of several terms', () => {
    const nodeSelector = { nodeSelectorTerms: [...inZones('x').nodeSelectorTerms, ...inZones('y').nodeSelectorTerms] };
    expect(() => selectorOf([devicesNamed('a'), { nodeSelector }])).toThrow(
      'claim d/c: unsupported ResourceSlice.NodeSelector with 2 terms',
    );
  });
});

describe('the configuration of a result', () => {
  const deviceClass = (name: string): DeviceClass => ({
    metadata: { name },
    spec: { config: name === 'any' ? [opaque(1), opaque(2)] : [] },
  });
  const allocator = allocatorOf([sliceOf('x', devicesNamed('a', 'b', 'c'))], { deviceClass });
  const configOf = (...claim: Parameters<typeof claimOf>) =>
    allocator.allocate(nodeOf(), [claimOf(...claim)])?.[0]?.devices?.config;

  it('has that of each class once, for all requests with it', () => {
    const other = requestOf('o', 1, { deviceClassName: 'other' });
    expect(configOf([requestOf('r'), other, alternativesOf('q', 9, 1)])).toEqual(
      [1, 2].map((n) => ({ source: 'FromClass', requests: ['r', 'q/s1'], ...opaque(n) })),
    );
  });

  it('has that of the claim for each request that was given something by it', () => {
    const plain = requestOf('r', 1, { deviceClassName: 'other' });
    const requests = [plain, { ...plain, name: 'q' }];
    const config = [{ ...opaque(3) }, { requests: ['r', 'q'], ...opaque(4) }, { requests: ['z'], ...opaque(5) }];
    expect(configOf(requests, { config })).toEqual([
      { source: 'FromClaim', ...opaque(3) },
      { source: 'FromClaim', requests: ['r', 'q'], ...opaque(4) },
      { source: 'FromClaim', requests: ['r', 'q'], ...opaque(4) },
    ]);
  });

  it('has that of the alternative that was taken', () => {
    const config = [
      { requests: ['r/s0'], ...opaque(3) },
      { requests: ['r/s1'], ...opaque(4) },
    ];
    const own = configOf([alternativesOf('r', 9, 1)], { config })?.filter(({ source }) => source === 'FromClaim');
    expect(own).toEqual([{ source: 'FromClaim', requests: ['r/s1'], ...opaque(4) }]);
  });
});
