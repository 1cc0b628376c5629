import { formatTime, measuredAt } from '../../api/json/time.ts';
import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import type {
  ContainerStatsEntry,
  CPUStats,
  MemoryStats,
  NodeStats,
  PodStats,
  StatsSummary,
  SwapStats,
  VolumeStats,
} from '../../node/server/stats-types.ts';
import type { ContainerStats, PodSandboxStats, ResourceUsage } from '../runtime/runtime-containers.ts';
import { runtimeLabels } from '../runtime/runtime-sandboxes.ts';
import { type CountedFiles, type DiskStats, diskOf, ephemeralStorage, logStats, volumeStats } from './node-stats.ts';

/** What a summary is made from. */
export interface StatsSources {
  /** The node as a whole. */
  readonly node: NodeStats;
  /** What the runtime has measured: `runtime.listPodSandboxStats({ ready: true })`. */
  readonly sandboxes: readonly PodSandboxStats[];
  /** The pods of the node, each with its newest status: start times and limits are theirs. */
  readonly pods: readonly Pod[];
  /** Gives of a pod its most memory, or that of one of its containers, in bytes, where there is a limit. Default: there is none. */
  readonly memoryLimitsOf?: (pod: Pod) => (container: string | undefined) => number | undefined;
  /** What was counted of the pod's files on the node. Default: nothing was. */
  readonly filesOf?: (podUID: string) => CountedFiles | undefined;
  /** How full the claimed volumes of a pod are. Default: nothing was measured. */
  readonly claimedOf?: (podUID: string) => readonly VolumeStats[];
}

/**
 * The content of `/stats/summary`. A pod that the agent does not know any more is shown by the labels of its sandbox; of a pod with
 * several sandboxes only the first one counts, which is the newest where the runtime lists them so. What was not measured is absent.
 */
export function buildStatsSummary(sources: StatsSources): StatsSummary {
  const { node, sandboxes, pods, memoryLimitsOf, filesOf, claimedOf } = sources;
  const known = new Map(pods.map((pod) => [podUIDOf(pod), pod]));
  const disk = diskOf(node.fs);
  const shown = new Map<string, PodStats>();
  for (const sandbox of sandboxes) {
    const uid = sandbox.labels[runtimeLabels.podUID];
    if (uid === undefined || shown.has(uid)) continue;
    const pod = known.get(uid);
    const limitOf = pod && memoryLimitsOf?.(pod);
    shown.set(uid, podStats(sandbox, uid, { pod, limitOf, files: filesOf?.(uid), claimed: claimedOf?.(uid) ?? [], disk }));
  }
  return { node, pods: [...shown.values()] };
}

/** What is known of a pod beside what the runtime measures. */
interface PodFacts {
  readonly pod: Pod | undefined;
  readonly limitOf: ((container: string | undefined) => number | undefined) | undefined;
  readonly files: CountedFiles | undefined;
  readonly claimed: readonly VolumeStats[];
  readonly disk: DiskStats;
}

function podStats(sandbox: PodSandboxStats, uid: string, facts: PodFacts): PodStats {
  const { labels, at, receivedBytes, sentBytes, processes } = sandbox;
  const { pod, limitOf, files, claimed, disk } = facts;
  const time = measuredAt(at);
  const starts = startsOf(pod);
  // the runtime also names containers that have ended, of which nothing is measured
  const containers = sandbox.containers.filter(isMeasured).map((each) => containerStats(each, starts.get(each.name), facts));
  const hasNetwork = receivedBytes !== undefined || sentBytes !== undefined;
  const swap = swapOf(containers);
  const volume = [...(files === undefined ? [] : volumeStats(files, disk)), ...claimed];
  const storage = ephemeralStorage(containers, files, disk);
  return {
    podRef: { name: labels[runtimeLabels.podName] ?? '', namespace: labels[runtimeLabels.podNamespace] ?? '', uid },
    startTime: timeText(pod?.status?.startTime) ?? time,
    containers,
    ...usage(sandbox, limitOf?.(undefined)),
    ...(swap !== undefined && { swap }),
    ...(hasNetwork && {
      network: { time, name: 'eth0', ...defined('rxBytes', receivedBytes), ...defined('txBytes', sentBytes) },
    }),
    ...(volume.length > 0 && { volume }),
    ...(storage !== undefined && { 'ephemeral-storage': storage }),
    ...(processes !== undefined && { process_stats: { process_count: processes } }),
  };
}

function isMeasured({ cpuNanoseconds, memoryWorkingSetBytes }: ResourceUsage): boolean {
  return cpuNanoseconds !== undefined || memoryWorkingSetBytes !== undefined;
}

function containerStats(container: ContainerStats, start: string | undefined, facts: PodFacts): ContainerStatsEntry {
  const { name, at, writableLayerBytes, writableLayerInodes } = container;
  const time = measuredAt(at);
  const rootfs = { time, ...defined('usedBytes', writableLayerBytes), ...defined('inodesUsed', writableLayerInodes) };
  const logs = logStats(facts.files, name, facts.disk);
  return {
    name,
    startTime: start ?? time,
    ...usage(container, facts.limitOf?.(name)),
    ...(writableLayerBytes !== undefined && { rootfs }),
    ...(logs !== undefined && { logs }),
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

interface UsageStats {
  readonly cpu?: CPUStats;
  readonly memory?: MemoryStats;
  readonly swap?: SwapStats;
}

function usage(measured: ResourceUsage, limit: number | undefined): UsageStats {
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

/** By the container's name. */
function startsOf({ status: podStatus }: Partial<Pod> = {}): ReadonlyMap<string, string> {
  const all = [podStatus?.ephemeralContainerStatuses, podStatus?.initContainerStatuses, podStatus?.containerStatuses];
  const statuses = all.flatMap((list) => list ?? []);
  return new Map(statuses.flatMap(({ name, state }) => withName(name, timeText(state?.running?.startedAt))));
}

function withName(name: string, time: string | undefined): [string, string][] {
  return time === undefined ? [] : [[name, time]];
}

/** A status may hold times as text or as dates. */
function timeText(time: string | Date | null | undefined): string | undefined {
  return time instanceof Date ? formatTime(time.getTime()) : (time ?? undefined);
}
