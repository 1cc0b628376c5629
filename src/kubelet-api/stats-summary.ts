import { runtimeLabels } from '../runtime/runtime-labels.ts';
import type { ContainerStats, PodSandboxStats, ResourceUsage } from '../runtime/runtime-stats.ts';
import { formatTime } from '../wire/time.ts';
import type { Pod } from '../wire/types.ts';
import { measuredAt } from './measured-at.ts';
import type { ContainerStatsEntry, CPUStats, MemoryStats, NodeStats, PodStats, StatsSummary, SwapStats } from './stats-types.ts';

/** What a summary is made from. */
export interface StatsSources {
  /** The node as a whole. */
  readonly node: NodeStats;
  /** What the runtime has measured: `runtime.listPodSandboxStats({ ready: true })`. */
  readonly sandboxes: readonly PodSandboxStats[];
  /** The pods of the node, each with its newest status: start times and limits are theirs. */
  readonly pods: readonly Pod[];
  /** The most memory of a pod or a container in bytes, where it has a limit. Default: none has. */
  readonly memoryLimitOf?: (pod: Pod, container: string | undefined) => number | undefined;
}

/**
 * The content of `/stats/summary`. A pod that the agent does not know any more is shown by the labels of its sandbox; of a pod with
 * several sandboxes only the first one counts, which is the newest where the runtime lists them so. What was not measured is absent.
 */
export function buildStatsSummary({ node, sandboxes, pods, memoryLimitOf }: StatsSources): StatsSummary {
  const known = new Map(pods.map((pod) => [pod.metadata?.uid ?? '', pod]));
  const shown = new Map<string, PodStats>();
  for (const sandbox of sandboxes) {
    const uid = sandbox.labels[runtimeLabels.podUID];
    if (uid === undefined || shown.has(uid)) continue;
    shown.set(uid, podStats(sandbox, uid, known.get(uid), memoryLimitOf));
  }
  return { node, pods: [...shown.values()] };
}

function podStats(sandbox: PodSandboxStats, uid: string, pod: Pod | undefined, limitOf: StatsSources['memoryLimitOf']): PodStats {
  const { labels, at, receivedBytes, sentBytes, processes } = sandbox;
  // the runtime also names containers that have ended, of which nothing is measured
  const containers = sandbox.containers.filter(isMeasured);
  const time = measuredAt(at);
  const written = containers.flatMap(({ writableLayerBytes }) => (writableLayerBytes === undefined ? [] : [writableLayerBytes]));
  const hasNetwork = receivedBytes !== undefined || sentBytes !== undefined;
  const limit = (container?: string): number | undefined => (pod === undefined ? undefined : limitOf?.(pod, container));
  const shown = containers.map((container) => containerStats(container, pod, limit(container.name)));
  const swap = swapOf(shown);
  return {
    podRef: { name: labels[runtimeLabels.podName] ?? '', namespace: labels[runtimeLabels.podNamespace] ?? '', uid },
    startTime: timeText(pod?.status?.startTime) ?? time,
    containers: shown,
    ...usage(sandbox, limit()),
    ...(swap !== undefined && { swap }),
    ...(hasNetwork && {
      network: { time, name: 'eth0', ...defined('rxBytes', receivedBytes), ...defined('txBytes', sentBytes) },
    }),
    ...(written.length > 0 && { 'ephemeral-storage': { time, usedBytes: written.reduce((sum, bytes) => sum + bytes, 0) } }),
    ...(processes !== undefined && { process_stats: { process_count: processes } }),
  };
}

function isMeasured({ cpuNanoseconds, memoryWorkingSetBytes }: ResourceUsage): boolean {
  return cpuNanoseconds !== undefined || memoryWorkingSetBytes !== undefined;
}

function containerStats(container: ContainerStats, pod: Pod | undefined, limit: number | undefined): ContainerStatsEntry {
  const { name, at, writableLayerBytes, writableLayerInodes } = container;
  const time = measuredAt(at);
  const rootfs = { time, ...defined('usedBytes', writableLayerBytes), ...defined('inodesUsed', writableLayerInodes) };
  return {
    name,
    startTime: startOf(pod, name) ?? time,
    ...usage(container, limit),
    ...(writableLayerBytes !== undefined && { rootfs }),
  };
}

/** Of all containers together: the runtime does not measure it of a pod. */
function swapOf(containers: readonly ContainerStatsEntry[]): SwapStats | undefined {
  const all = containers.flatMap(({ swap }) => swap ?? []);
  const last = all.at(-1);
  if (last === undefined) return undefined;
  const sum = (name: 'swapAvailableBytes' | 'swapUsageBytes') => all.reduce((bytes, each) => bytes + (each[name] ?? 0), 0);
  return { time: last.time, swapAvailableBytes: sum('swapAvailableBytes'), swapUsageBytes: sum('swapUsageBytes') };
}

interface Usage {
  readonly cpu?: CPUStats;
  readonly memory?: MemoryStats;
  readonly swap?: SwapStats;
}

function usage(measured: ResourceUsage, limit: number | undefined): Usage {
  const { at, cpuNanocores, cpuNanoseconds, memoryRssBytes, memoryUsageBytes, memoryWorkingSetBytes } = measured;
  const time = measuredAt(at);
  const available =
    limit === undefined || memoryWorkingSetBytes === undefined ? undefined : Math.max(0, limit - memoryWorkingSetBytes);
  const cpu = { ...defined('usageNanoCores', cpuNanocores), ...defined('usageCoreNanoSeconds', cpuNanoseconds) };
  const memory = {
    ...defined('availableBytes', available),
    ...defined('usageBytes', memoryUsageBytes),
    ...defined('workingSetBytes', memoryWorkingSetBytes),
    ...defined('rssBytes', memoryRssBytes),
  };
  const swap = {
    ...defined('swapAvailableBytes', measured.swapAvailableBytes),
    ...defined('swapUsageBytes', measured.swapUsageBytes),
  };
  return {
    ...(Object.keys(cpu).length > 0 && { cpu: { time, ...cpu } }),
    ...(Object.keys(memory).length > 0 && { memory: { time, ...memory } }),
    ...(Object.keys(swap).length > 0 && { swap: { time, ...swap } }),
  };
}

function defined<K extends string>(name: K, value: number | undefined): { readonly [key in K]?: number } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [key in K]: number });
}

function startOf({ status: podStatus }: Partial<Pod> = {}, name: string): string | undefined {
  const all = [podStatus?.containerStatuses, podStatus?.initContainerStatuses, podStatus?.ephemeralContainerStatuses];
  const status = all.flatMap((statuses) => statuses ?? []).find((container) => container.name === name);
  return timeText(status?.state?.running?.startedAt);
}

/** A status may hold times as text or as dates. */
function timeText(time: string | Date | null | undefined): string | undefined {
  return time instanceof Date ? formatTime(time.getTime()) : (time ?? undefined);
}
