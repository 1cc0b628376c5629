import type { NodeInfo } from '../../../../../src/scheduler/nodes/node-info.ts';
import type { PodInfo } from '../../../../../src/scheduler/nodes/pod-info.ts';
import type { ResourceAmounts } from '../../../../../src/scheduler/nodes/resource.ts';

export interface Amounts {
  readonly cpu?: number;
  readonly memory?: number;
  readonly storage?: number;
  readonly [extended: string]: number | undefined;
}

/** Amounts by name: thousandths of CPU, bytes, counts. */
export function amounts({ cpu = 0, memory = 0, storage = 0, ...rest }: Amounts): ResourceAmounts {
  const scalar = new Map(Object.entries(rest).map(([name, amount]) => [name, amount ?? 0]));
  return { milliCPU: cpu, memory, ephemeralStorage: storage, scalar };
}

/** A pod of one container. */
export function podAsking(asked: Amounts): PodInfo {
  const requests = amounts(asked);
  const nonZeroRequests = { milliCPU: asked.cpu ?? 100, memory: asked.memory ?? 200 * 1024 ** 2 };
  return { requests, nonZeroRequests } as PodInfo;
}

/** A node with two pods that ask for `used`. */
export function nodeWith(has: Amounts, used: Amounts = {}, pods = 110): NodeInfo {
  const requested = amounts(used);
  const nonZeroRequested = { milliCPU: requested.milliCPU, memory: requested.memory };
  const info = { allocatable: { ...amounts(has), pods }, requested, nonZeroRequested, pods: [podAsking({}), podAsking({})] };
  return info as unknown as NodeInfo;
}
