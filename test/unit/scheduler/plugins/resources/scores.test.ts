import { describe, expect, it } from 'vitest';
import { CycleState } from '../../../../../src/scheduler/framework/cycle-state.ts';
import { createPodInfo, type PodInfo } from '../../../../../src/scheduler/nodes/pod-info.ts';
import { nodeResourcesBalancedAllocation } from '../../../../../src/scheduler/plugins/resources/balanced-allocation.ts';
import { nodeResourcesFit } from '../../../../../src/scheduler/plugins/resources/node-resources-fit.ts';
import {
  leastAllocated,
  mostAllocated,
  requestedToCapacityRatio,
} from '../../../../../src/scheduler/plugins/resources/strategies.ts';
import { type Amounts, nodeWith, podAsking } from './nodes-and-pods.ts';

const infoOf = (asked: Amounts): PodInfo => ({ ...podAsking(asked), pod: {} });
const both = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
];
const gpu = { name: 'example.com/gpu', weight: 4 };
const node = nodeWith({ cpu: 1000, memory: 1000, 'example.com/gpu': 4 }, { cpu: 100, memory: 300, 'example.com/gpu': 1 });

describe('strategies of NodeResourcesFit', () => {
  it('score what is left over, and what is taken', () => {
    const pod = podAsking({ cpu: 101, memory: 100 });
    // 79.9 of CPU and 60 of memory are left, each cut to an integer, then their mean
    expect(leastAllocated(both)(pod, node)).toBe(69);
    expect(mostAllocated(both)(pod, node)).toBe(30);
  });

  it('weigh resources', () => {
    const weighed = [
      { name: 'cpu', weight: 3 },
      { name: 'memory', weight: 1 },
    ];
    expect(leastAllocated(weighed)(podAsking({ cpu: 100, memory: 100 }), node)).toBe(75);
  });

  it('give a node that is overfull 0 of what is left, and 100 of what is taken', () => {
    const pod = podAsking({ cpu: 2000, memory: 2000 });
    expect(leastAllocated(both)(pod, node)).toBe(0);
    expect(mostAllocated(both)(pod, node)).toBe(100);
  });

  it('count an extended resource only where the pod asks for it and the node has it', () => {
    const score = leastAllocated([...both, gpu]);
    const plain = podAsking({ cpu: 100, memory: 100 });
    const greedy = podAsking({ cpu: 100, memory: 100, 'example.com/gpu': 3 });
    expect(score(plain, node)).toBe(70);
    expect(score(greedy, node)).toBe(23);
    expect(score(greedy, nodeWith({ cpu: 1000, memory: 1000 }, { cpu: 100, memory: 300 }))).toBe(70);
  });

  it('score 0 where nothing counts', () => {
    const empty = nodeWith({});
    const scorers = [leastAllocated(both), mostAllocated(both), requestedToCapacityRatio(both, [{ utilization: 0, score: 10 }])];
    expect(scorers.map((score) => score(podAsking({}), empty))).toEqual([0, 0, 0]);
  });

  it('count a container without requests as 100m and 200 MiB', () => {
    const large = nodeWith({ cpu: 1000, memory: 1000 * 1024 ** 2 });
    expect(leastAllocated(both)(podAsking({}), large)).toBe(85);
  });

  it('stay exact for amounts whose hundredfold no number holds', () => {
    // 72.99…: the nearest number to it is 73
    const [memory, capacity] = [6_482_967_662_503_026, 8_880_777_619_867_159];
    expect(mostAllocated([{ name: 'memory', weight: 1 }])(podAsking({ memory }), nodeWith({ memory: capacity }))).toBe(72);
  });

  it.each([
    [0, 100],
    [10, 100],
    [30, 75],
    [49, 52],
    [50, 50],
    [70, 50],
    [100, 50],
  ])('follow a line: %i per cent score %i', (used, expected) => {
    const shape = [
      { utilization: 10, score: 10 },
      { utilization: 50, score: 5 },
    ];
    const score = requestedToCapacityRatio([{ name: 'cpu', weight: 1 }], shape);
    expect(score(podAsking({ cpu: 0 }), nodeWith({ cpu: 100 }, { cpu: used }))).toBe(expected);
  });

  it('leave a resource that scores 0 on the line out of the mean, which is rounded', () => {
    const shape = [
      { utilization: 0, score: 0 },
      { utilization: 100, score: 10 },
    ];
    const score = requestedToCapacityRatio(both, shape);
    expect(score(podAsking({ cpu: 0, memory: 0 }), nodeWith({ cpu: 100, memory: 100 }, { memory: 40 }))).toBe(40);
    expect(score(podAsking({ cpu: 0, memory: 0 }), nodeWith({ cpu: 100, memory: 100 }, { cpu: 41, memory: 40 }))).toBe(41);
  });
});

describe('NodeResourcesFit', () => {
  it('scores what the containers ask for, and filters by what the pod as a whole asks for', () => {
    const requests = { cpu: '500m', memory: '500' };
    const pod = createPodInfo({
      metadata: { name: 'p', namespace: 'd', uid: 'u' },
      spec: { containers: [{ name: 'c', resources: { requests: { cpu: '100m', memory: '100' } } }], resources: { requests } },
    });
    const plugin = nodeResourcesFit();
    const half = nodeWith({ cpu: 1000, memory: 1000 }, { cpu: 600, memory: 600 });
    expect(plugin.score?.(new CycleState(), pod, half)).toBe(30);
    expect(plugin.filter?.(new CycleState(), pod, half)?.reasons).toEqual(['Insufficient cpu', 'Insufficient memory']);
  });

  it('takes the strategy of its arguments', () => {
    const scoreWith = (scoringStrategy: object) =>
      nodeResourcesFit({ scoringStrategy }).score?.(new CycleState(), infoOf({ cpu: 100, memory: 100 }), node);
    const requestedToCapacityRatio = { shape: [{ utilization: 0, score: 9 }] };
    expect(scoreWith({ type: 'LeastAllocated' })).toBe(70);
    expect(scoreWith({ type: 'MostAllocated' })).toBe(30);
    expect(scoreWith({ type: 'RequestedToCapacityRatio', requestedToCapacityRatio })).toBe(90);
  });
});

describe('NodeResourcesBalancedAllocation', () => {
  const scoreOf = (asked: Amounts, has: Amounts, used: Amounts, args?: unknown): number | undefined =>
    nodeResourcesBalancedAllocation(args).score?.(new CycleState(), podAsking(asked), nodeWith(has, used));
  const has = { cpu: 1000, memory: 1000 };

  it.each([
    ['as balanced as before', { cpu: 100, memory: 100 }, { cpu: 0, memory: 0 }, 75],
    ['into balance', { cpu: 1000, memory: 0 }, { cpu: 0, memory: 1000 }, 100],
    ['out of balance', { cpu: 1000, memory: 0 }, {}, 50],
    ['a little out of balance', { cpu: 100, memory: 0 }, {}, 72],
    ['beyond its end', { cpu: 5000, memory: 1000 }, {}, 75],
    ['unlike by half a difference, which is exact', { cpu: 40, memory: 720 }, {}, 58],
  ])('scores a node that the pod leaves %s', (_what, asked, used, expected) => {
    expect(scoreOf(asked, has, used)).toBe(expected);
  });

  it('takes the standard deviation of more than two resources', () => {
    const args = { resources: [{ name: 'cpu' }, { name: 'memory' }, { name: 'example.com/gpu' }] };
    const three = { ...has, 'example.com/gpu': 10 };
    // before: 0.3, 0.3, 0.1, so 90; after: 0.4, 0.3, 0.9, so 73
    expect(scoreOf({ cpu: 100, 'example.com/gpu': 8 }, three, { cpu: 300, memory: 300, 'example.com/gpu': 1 }, args)).toBe(66);
  });

  it('has nothing to say of a pod that asks for nothing', () => {
    const { preScore } = nodeResourcesBalancedAllocation();
    const states = [{}, { 'example.com/gpu': 1 }, { memory: 1 }].map((asked) =>
      preScore?.(new CycleState(), podAsking(asked), []),
    );
    expect(states).toEqual(['skip', 'skip', undefined]);
  });
});
