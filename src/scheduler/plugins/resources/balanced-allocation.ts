// Behaviour of pkg/scheduler/framework/plugins/noderesources, balanced_allocation.go, v1.36.3.

import { withSignature } from '../../framework/placed-plugin.ts';
import type { Plugin } from '../../framework/plugin.ts';
import type { NodeInfo } from '../../nodes/node-info.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';
import { requestsText } from '../common.ts';
import { balancedAllocationArgs } from './args.ts';
import { allocatableOf, counts, requestedUsage, type WeighedResource } from './strategies.ts';

/**
 * Prefers nodes whose resources are used in equal parts: 100 where the pod brings them into balance, 50 where it takes them
 * out of it, about 75 where little changes. A pod that asks for none of the resources is not scored.
 *
 * Arguments: `resources`, by default CPU and memory; their weights are 1.
 */
export function nodeResourcesBalancedAllocation(args?: unknown): Plugin {
  const resources = balancedAllocationArgs(args);
  const score = balanceScorer(resources);
  const plugin: Plugin = {
    name: 'NodeResourcesBalancedAllocation',
    eventsToRegister: () => [],
    preScore: (_state, pod) => (resources.every(({ name }) => requestedUsage.request(pod, name) === 0) ? 'skip' : undefined),
    score: (_state, pod, node) => score(pod, node),
  };
  return withSignature(plugin, requestsText);
}

function balanceScorer(resources: readonly WeighedResource[]): (pod: PodInfo, node: NodeInfo) => number {
  const before = new Float64Array(resources.length);
  const after = new Float64Array(resources.length);
  return (pod, node) => {
    let count = 0;
    for (const { name } of resources) {
      const capacity = allocatableOf(node, name);
      const request = requestedUsage.request(pod, name);
      if (!counts(name, capacity, request)) continue;
      const used = requestedUsage.used(node, name);
      before[count] = Math.min(1, used / capacity);
      after[count] = Math.min(1, (used + request) / capacity);
      count++;
    }
    return 50 + Math.trunc((50 + balanceOf(after, count) - balanceOf(before, count)) / 2);
  };
}

/** From 100, where the first `count` fractions are all alike, down. */
export function balanceOf(fractions: ArrayLike<number>, count: number): number {
  return Math.trunc((1 - deviation(fractions, count)) * 100);
}

/** The standard deviation. Of two numbers it is half their difference; in this form no digit of it is lost. */
function deviation(fractions: ArrayLike<number>, count: number): number {
  if (count < 2) return 0;
  if (count === 2) return Math.abs((at(fractions, 0) - at(fractions, 1)) / 2);
  let total = 0;
  for (let i = 0; i < count; i++) total += at(fractions, i);
  const mean = total / count;
  let squares = 0;
  for (let i = 0; i < count; i++) squares += (at(fractions, i) - mean) * (at(fractions, i) - mean);
  return Math.sqrt(squares / count);
}

function at(fractions: ArrayLike<number>, index: number): number {
  return fractions[index] ?? 0;
}
