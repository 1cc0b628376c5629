// Behaviour of pkg/kubelet/eviction/helpers.go (rankMemoryPressure, rankDiskPressureFunc, rankPIDPressure), v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { podRequests } from '../../api/pod/pod-requests.ts';
import { wholeOf } from '../resize/pod-allocation.ts';
import { diskPartsOf, type Resource, type Signal, signalKinds } from './thresholds.ts';
import { type DiskLayout, type DiskParts, diskUsageOf, type PodUsage } from './usage.ts';

interface Ranked {
  readonly pod: Pod;
  readonly isKnown: boolean;
  /** How much more it takes than it asked for; of processes, how many it has. */
  readonly excess: number;
}

type Compare = (a: Ranked, b: Ranked) => number;

/**
 * Who is evicted first: pods that take more than they asked for, then by priority, then by how much more they take. Of processes,
 * only priority and number count. A pod of which nothing is known comes first.
 */
export function rankForEviction(
  signal: Signal,
  pods: readonly Pod[],
  usages: ReadonlyMap<string, PodUsage>,
  layout: DiskLayout,
): Pod[] {
  const { resource } = signalKinds[signal];
  const disk = diskPartsOf(signal, layout);
  const ranked = pods.map((pod): Ranked => {
    const usage = usages.get(podUIDOf(pod));
    if (usage === undefined) return { pod, isKnown: false, excess: 0 };
    return { pod, isKnown: true, excess: used[resource](usage, disk) - requestOf(pod, resource) };
  });
  const compares = resource === 'pids' ? [byPriority, unknownFirst, most] : [unknownFirst, exceeding, byPriority, most];
  return ranked.sort(inTurn(compares)).map(({ pod }) => pod);
}

const used: Readonly<Record<Resource, (usage: PodUsage, disk: DiskParts) => number>> = {
  memory: ({ memory = 0 }) => memory,
  'ephemeral-storage': (usage, disk) => diskUsageOf(usage, disk).bytes,
  inodes: (usage, disk) => diskUsageOf(usage, disk).inodes,
  pids: ({ processes = 0 }) => processes,
};

/** No pod asks for inodes or processes. The overhead counts where the pod asks for something. */
function requestOf({ spec }: Pod, resource: Resource): number {
  if (resource !== 'memory' && resource !== 'ephemeral-storage') return 0;
  const overhead = wholeOf(spec?.overhead?.[resource]);
  const request = wholeOf(podRequests(spec)[resource]);
  return request === overhead ? 0 : request;
}

const unknownFirst: Compare = (a, b) => Number(a.isKnown) - Number(b.isKnown);
const exceeding: Compare = (a, b) => Number(b.excess > 0) - Number(a.excess > 0);
const byPriority: Compare = (a, b) => (a.pod.spec?.priority ?? 0) - (b.pod.spec?.priority ?? 0);
// endless trees are alike, and their difference is no number
const most: Compare = (a, b) => (a.excess === b.excess ? 0 : b.excess - a.excess);

function inTurn(compares: readonly Compare[]): Compare {
  return (a, b) => compares.reduce((result, compare) => result || compare(a, b), 0);
}
