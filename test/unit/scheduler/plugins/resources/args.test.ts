import { describe, expect, it } from 'vitest';
import { isStatusManagerError } from '../../../../../src/base/errors.ts';
import { balancedAllocationArgs, fitArgs } from '../../../../../src/scheduler/plugins/resources/args.ts';

const basic = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
];
const shape = [{ utilization: 0, score: 10 }, { utilization: 100 }];
const ratio = (value: unknown) => ({ scoringStrategy: { type: 'RequestedToCapacityRatio', requestedToCapacityRatio: value } });
const least = (resources: unknown) => ({ scoringStrategy: { type: 'LeastAllocated', resources } });

describe('arguments of NodeResourcesFit', () => {
  it.each([
    [undefined],
    [null],
    [{}],
    [{ apiVersion: 'v1', kind: 'NodeResourcesFitArgs', scoringStrategy: null }],
    [least([])],
  ])('are LeastAllocated of CPU and memory by default: %o', (args) => {
    expect(fitArgs(args)).toEqual({
      ignoredResources: new Set(),
      ignoredResourceGroups: new Set(),
      scoringStrategy: { type: 'LeastAllocated', resources: basic },
    });
  });

  it('are taken as they are; an absent weight, or 0, is 1', () => {
    const resources = [{ name: 'cpu', weight: 100 }, { name: 'memory', weight: 0 }, { name: 'example.com/gpu' }];
    const scoringStrategy = { type: 'RequestedToCapacityRatio', resources, requestedToCapacityRatio: { shape } };
    const args = { ignoredResources: ['example.com/a'], ignoredResourceGroups: ['example.com'], scoringStrategy };
    expect(fitArgs(args)).toEqual({
      ignoredResources: new Set(['example.com/a']),
      ignoredResourceGroups: new Set(['example.com']),
      scoringStrategy: {
        type: 'RequestedToCapacityRatio',
        resources: [
          { name: 'cpu', weight: 100 },
          { name: 'memory', weight: 1 },
          { name: 'example.com/gpu', weight: 1 },
        ],
        shape: [
          { utilization: 0, score: 10 },
          { utilization: 100, score: 0 },
        ],
      },
    });
  });

  it.each([
    ['text', '`NodeResourcesFit` to be an object, got "text" (string)'],
    [[], '`NodeResourcesFit` to be an object, got (array)'],
    [{ scoringStrategi: {} }, '`NodeResourcesFit.scoringStrategi` to be absent'],
    [{ ignoredResources: 'gpu' }, '`NodeResourcesFit.ignoredResources` to be a list, got "gpu" (string)'],
    [{ ignoredResources: ['a b'] }, '`NodeResourcesFit.ignoredResources[0]` to be a name'],
    [{ ignoredResourceGroups: ['a/b'] }, '`NodeResourcesFit.ignoredResourceGroups[0]` to be a name'],
    [{ scoringStrategy: [] }, '`NodeResourcesFit.scoringStrategy` to be an object, got (array)'],
    [{ scoringStrategy: {} }, '`NodeResourcesFit.scoringStrategy.type` to be one of "LeastAllocated", "MostAllocated"'],
    [{ scoringStrategy: { type: 'Least' } }, 'got "Least" (string)'],
    [least({}), '`NodeResourcesFit.scoringStrategy.resources` to be a list, got (object)'],
    [least([{ weight: 1 }]), '`NodeResourcesFit.scoringStrategy.resources[0].name` to be the name of a resource'],
    [least([{ name: 'cpu', weight: 101 }]), 'resources[0].weight` to be an integer from 1 to 100, got 101 (number)'],
    [least([{ name: 'cpu', weight: -1 }]), 'resources[0].weight` to be an integer from 1 to 100, got -1 (number)'],
    [least([{ name: 'cpu', weight: 1.5 }]), 'got 1.5 (number)'],
    [least([{ name: 'cpu', wait: 1 }]), 'resources[0].wait` to be absent'],
    [
      { scoringStrategy: { type: 'MostAllocated', requestedToCapacityRatio: { shape } } },
      'requestedToCapacityRatio` to be absent',
    ],
    [ratio(undefined), 'scoringStrategy.requestedToCapacityRatio` to be an object, got undefined'],
    [ratio({}), 'requestedToCapacityRatio.shape` to be a list of at least one point, got undefined'],
    [ratio({ shape: [{ utilization: 101 }] }), 'shape[0].utilization` to be an integer from 0 to 100, got 101 (number)'],
    [ratio({ shape: [{ score: 11 }] }), 'shape[0].score` to be an integer from 0 to 10, got 11 (number)'],
    [ratio({ shape: [{ utilization: 5 }, { utilization: 5 }] }), 'shape[1].utilization` to be more than 5'],
  ])('are refused: %j', (args, message) => {
    expectRefusal(() => fitArgs(args), message);
  });
});

describe('arguments of NodeResourcesBalancedAllocation', () => {
  it('are CPU and memory by default, or any resources of weight 1', () => {
    expect(balancedAllocationArgs(undefined)).toEqual(basic);
    expect(balancedAllocationArgs({ resources: [{ name: 'cpu' }] })).toEqual([{ name: 'cpu', weight: 1 }]);
  });

  it.each([
    [
      { resources: [{ name: 'cpu', weight: 2 }] },
      '`NodeResourcesBalancedAllocation.resources[0].weight` to be 1, got 2 (number)',
    ],
    [
      { resources: [{ name: 'cpu' }, { name: 'cpu' }] },
      'resources[1].name` to be a resource that is not listed before, got "cpu"',
    ],
    [{ scoringStrategy: {} }, '`NodeResourcesBalancedAllocation.scoringStrategy` to be absent'],
  ])('are refused: %j', (args, message) => {
    expectRefusal(() => balancedAllocationArgs(args), message);
  });
});

function expectRefusal(call: () => unknown, message: string): void {
  expect(call).toThrow(message);
  expect(call).toThrow(expect.toSatisfy((error) => isStatusManagerError(error, 'ERR_INVALID_OPTION')));
}
