// Behaviour of pkg/kubelet/eviction/helpers.go (rankMemoryPressure, rankDiskPressureFunc, rankPIDPressure), v1.36.3.
import { podRequests } from '../../runtime-status/resource-lists.ts';
import type { Pod } from '../../wire/types.ts';
import { wholeOf } from '../resize/resource-amounts.ts';
import { type Signal, signalKinds } from './signals.ts';
import { diskUsageOf, type PodUsage } from './usage.ts';

interface Ranked {
  readonly pod: Pod;
  readonly usage: PodUsage | undefined;
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
  hasDedicatedImagefs: boolean,
): Pod[] {
  const ranked = pods.map((pod) => ({ pod, usage: usages.get(pod.metadata?.uid ?? '') }));
  return ranked.sort(inTurn(comparesFor(signal, hasDedicatedImagefs))).map(({ pod }) => pod);
}

function comparesFor(signal: Signal, hasDedicatedImagefs: boolean): Compare[] {
  const { resource } = signalKinds[signal];
  if (resource === 'pids') return [byPriority, unknownFirst, largest(({ usage }) => usage?.processes ?? 0)];
  const disk = hasDedicatedImagefs ? (signal.startsWith('imagefs') ? 'imagefs' : 'nodefs') : 'both';
  const used: Record<'memory' | 'ephemeral-storage' | 'inodes', (usage: PodUsage) => number> = {
    memory: ({ memory = 0 }) => memory,
    'ephemeral-storage': (usage) => diskUsageOf(usage, disk),
    inodes: ({ containers }) => Object.values(containers).reduce((sum, { rootfsInodes = 0 }) => sum + rootfsInodes, 0),
  };
  const requestOf = ({ pod }: Ranked): number => wholeOf(podRequests(pod.spec)[resource]);
  const over = (one: Ranked): number => (one.usage === undefined ? 0 : used[resource](one.usage) - requestOf(one));
  const exceeding: Compare = (a, b) => Number(over(b) > 0) - Number(over(a) > 0);
  return [unknownFirst, exceeding, byPriority, largest(over)];
}

const unknownFirst: Compare = (a, b) => Number(b.usage === undefined) - Number(a.usage === undefined);
const byPriority: Compare = (a, b) => (a.pod.spec?.priority ?? 0) - (b.pod.spec?.priority ?? 0);

function largest(value: (one: Ranked) => number): Compare {
  return (a, b) => value(b) - value(a);
}

function inTurn(compares: readonly Compare[]): Compare {
  return (a, b) => compares.reduce((result, compare) => result || compare(a, b), 0);
}
