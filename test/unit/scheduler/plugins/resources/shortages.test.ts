import { afterEach, describe, expect, it, vi } from 'vitest';
import type { NodeInfo } from '../../../../../src/scheduler/nodes/node-info.ts';
import { shortages } from '../../../../../src/scheduler/plugins/resources/node-resources-fit.ts';
import { numbered } from '../../../../support/counted.ts';
import { type Amounts, amounts, nodeWith } from './nodes-and-pods.ts';

const has = { cpu: 1000, memory: 1000, storage: 1000, 'example.com/gpu': 4, 'hugepages-2Mi': 10 };
const used = { cpu: 500, memory: 500, storage: 500, 'example.com/gpu': 3 };

afterEach(() => void vi.restoreAllMocks());

const shortagesOf = (asked: Amounts, node: NodeInfo) =>
  shortages(amounts(asked), node.allocatable, node.requested, node.pods.length);

describe('shortages', () => {
  it('are none where all that is asked for is left', () => {
    const asked = { cpu: 500, memory: 500, storage: 500, 'example.com/gpu': 1, 'hugepages-2Mi': 10 };
    expect(shortagesOf(asked, nodeWith(has, used, 3))).toBeUndefined();
  });

  it('name all that is missing, in their order', () => {
    const asked = { storage: 501, 'example.com/gpu': 2, memory: 501, cpu: 501 };
    expect(shortagesOf(asked, nodeWith(has, used, 2))).toEqual({
      code: 'Unschedulable',
      reasons: [
        'Too many pods',
        'Insufficient cpu',
        'Insufficient memory',
        'Insufficient ephemeral-storage',
        'Insufficient example.com/gpu',
      ],
    });
  });

  it('name a hundred of the thousands that a pod may ask for, and look at few more', () => {
    const asked = Object.fromEntries(numbered(5000, (i) => [`example.com/r${i}`, 1]));
    const [requests, node] = [amounts(asked), nodeWith(has, used)];
    const looks = vi.spyOn(Map.prototype, 'get');
    const rejection = shortages(requests, node.allocatable, node.requested, 0);
    expect(looks.mock.calls.length).toBeLessThan(500);
    expect(rejection?.code).toBe('UnschedulableAndUnresolvable');
    expect(rejection?.reasons).toEqual(numbered(100, (i) => `Insufficient example.com/r${i}`));
  });

  it('are looked at behind the hundredth, too: one of them may be more than the node has', () => {
    const asked = Object.fromEntries(numbered(150, (i) => [`example.com/r${i}`, i === 149 ? 3 : 2]));
    const having = Object.fromEntries(numbered(150, (i) => [`example.com/r${i}`, 2]));
    const taken = Object.fromEntries(numbered(150, (i) => [`example.com/r${i}`, 1]));
    const rejection = shortagesOf(asked, nodeWith(having, taken));
    expect([rejection?.code, rejection?.reasons.length]).toEqual(['UnschedulableAndUnresolvable', 100]);
  });

  it.each([
    { cpu: 1001 },
    { memory: 1001 },
    { storage: 1001 },
    { 'example.com/gpu': 5 },
    { 'example.com/none': 1 },
  ])('cannot be resolved where the whole node has less: %o', (asked) => {
    expect(shortagesOf(asked, nodeWith(has, used))?.code).toBe('UnschedulableAndUnresolvable');
  });

  it.each([
    { cpu: 1000 },
    { memory: 1000 },
    { storage: 1000 },
    { 'example.com/gpu': 4 },
  ])('can be resolved where the whole node has as much: %o', (asked) => {
    expect(shortagesOf(asked, nodeWith(has, used))?.code).toBe('Unschedulable');
  });

  it('do not concern what the pod does not ask for, even on an overfull node', () => {
    const overfull = nodeWith(has, { cpu: 2000, memory: 2000, storage: 2000, 'example.com/gpu': 8 });
    expect(shortagesOf({ cpu: 0, 'example.com/gpu': 0 }, overfull)).toBeUndefined();
    expect(shortagesOf({ 'hugepages-2Mi': 1 }, overfull)).toBeUndefined();
  });

  it('leave out extended resources that are ignored, and only those', () => {
    const { allocatable, requested } = nodeWith({ cpu: 1 });
    const asked = amounts({ 'example.com/gpu': 1, 'other.org/fpga': 1, 'hugepages-2Mi': 1 });
    const reasonsWith = (names: string[], groups: string[]) =>
      shortages(asked, allocatable, requested, 0, { names: new Set(names), groups: new Set(groups) })?.reasons;
    expect(reasonsWith(['example.com/gpu', 'hugepages-2Mi'], [])).toEqual([
      'Insufficient other.org/fpga',
      'Insufficient hugepages-2Mi',
    ]);
    expect(reasonsWith([], ['other.org', 'hugepages-2Mi'])).toEqual([
      'Insufficient example.com/gpu',
      'Insufficient hugepages-2Mi',
    ]);
  });
});
