import { readFile, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../api/json/types.ts';
import { podLimits } from '../../api/pod/pod-requests.ts';
import { canonicalQuantity } from '../../api/quantity/quantity.ts';
import { nothing } from '../../node/files/tree-size.ts';
import type { PodCgroups } from '../cgroups/cgroup-manager.ts';
import { wholeOf } from '../resize/pod-allocation.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';
import type { ContainerStats } from '../runtime/runtime-containers.ts';
import { runtimeLabels } from '../runtime/runtime-sandboxes.ts';
import { ephemeralStorageOf, type NodeUsage, type PodFiles, type PodUsage, type Supply } from './usage.ts';

export interface UsagePaths {
  /** The agent's root directory. */
  readonly rootDirectory: string;
  /** A path on the file system of images; undefined: that of the root directory. */
  readonly imagefsPath?: string | undefined;
  /** A path on the file system of what containers write; undefined: that of images. */
  readonly containerfsPath?: string | undefined;
  /** Where the kernel tells of itself. Default `/proc`. */
  readonly proc?: string;
}

/** What the machine has. Memory is what is free and what can be taken back from the cache of files. */
export async function readNodeUsage(paths: UsagePaths): Promise<NodeUsage> {
  const { rootDirectory, imagefsPath = rootDirectory, containerfsPath = imagefsPath, proc = '/proc' } = paths;
  const [memory, node, image, container, pids] = await Promise.all([
    readMemory(proc).catch(() => undefined),
    readFilesystem(rootDirectory).catch(() => undefined),
    readFilesystem(imagefsPath).catch(() => undefined),
    readFilesystem(containerfsPath).catch(() => undefined),
    readPids(proc).catch(() => undefined),
  ]);
  return {
    memory,
    pids,
    nodefs: node?.bytes,
    nodefsInodes: node?.inodes,
    imagefs: image?.bytes,
    imagefsInodes: image?.inodes,
    containerfs: container?.bytes,
    containerfsInodes: container?.inodes,
    hasDedicatedImagefs: isAnother(node, image) || isAnother(image, container),
    hasSplitContainerfs: isAnother(image, container),
  };
}

/**
 * What all pods together may have of the node's memory and what they take of it, which cannot be taken back. Undefined where pods have
 * no group in common, and where the kernel does not say.
 */
export async function podsMemory(cgroups: Pick<PodCgroups, 'usage'>, limit: string | undefined): Promise<Supply | undefined> {
  const used = (await cgroups.usage('pods'))?.memoryWorkingSetBytes;
  if (used === undefined || limit === undefined) return undefined;
  const capacity = wholeOf(limit);
  return { available: Math.max(0, capacity - used), capacity };
}

interface Filesystem {
  readonly device: number;
}

/** What could not be read counts as the same. */
function isAnother(a: Filesystem | undefined, b: Filesystem | undefined): boolean {
  return a !== undefined && b !== undefined && a.device !== b.device;
}

/** The memory of the machine that is free or can be taken back from the cache of files. */
export async function readMemory(proc: string): Promise<Supply> {
  const text = await readFile(join(proc, 'meminfo'), 'utf8');
  const bytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]) * 1024;
  return known({ available: bytes('MemFree') + bytes('Inactive\\(file\\)'), capacity: bytes('MemTotal') });
}

async function readPids(proc: string): Promise<Supply> {
  const limit = (name: string): Promise<number> =>
    readFile(join(proc, 'sys/kernel', name), 'utf8').then(Number, () => Number.POSITIVE_INFINITY);
  const [ids, threads, load] = await Promise.all([
    limit('pid_max'),
    limit('threads-max'),
    readFile(join(proc, 'loadavg'), 'utf8'),
  ]);
  const capacity = Math.min(ids, threads);
  return known({ available: capacity - Number(load.split(' ')[3]?.split('/')[1]), capacity });
}

async function readFilesystem(path: string) {
  const [{ bavail, blocks, bsize, files, ffree }, { dev: device }] = await Promise.all([statfs(path), stat(path)]);
  // a file system that counts no inodes never runs out of them
  const inodes = files > 0 ? { available: ffree, capacity: files } : undefined;
  return { bytes: { available: bavail * bsize, capacity: blocks * bsize }, inodes, device };
}

function known(supply: Supply): Supply {
  if (!Number.isFinite(supply.available) || !Number.isFinite(supply.capacity)) throw new RangeError('no number');
  return supply;
}

/** What is known beside what the runtime measures. */
export interface KnownUsage {
  /** What was counted of the pod's files; undefined where nothing was yet. Default: nothing is known of files. */
  readonly filesOf?: (podUID: string) => PodFiles | undefined;
  /** True: the runtime is asked for the number of processes, too. Default false. */
  readonly withProcesses?: boolean;
}

/** What pods take: what the runtime measures now, and what is known of their files. It waits for no look at files. */
export async function readPodUsages(
  pods: readonly Pod[],
  runtime: Pick<ContainerRuntime, 'listContainerStats' | 'listPodSandboxStats'>,
  { filesOf = () => undefined, withProcesses = false }: KnownUsage,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, PodUsage>> {
  const [containers, sandboxes] = await Promise.all([
    runtime.listContainerStats({}, { signal }),
    withProcesses ? runtime.listPodSandboxStats({}, { signal }) : [],
  ]);
  const byPod = Map.groupBy(containers, ({ labels }) => labels[runtimeLabels.podUID] ?? '');
  const processes = new Map<string, number>();
  for (const { labels, processes: count = 0 } of sandboxes) {
    const podUID = labels[runtimeLabels.podUID] ?? '';
    processes.set(podUID, (processes.get(podUID) ?? 0) + count);
  }
  const usageOf = (podUID: string): PodUsage =>
    podUsage(byPod.get(podUID) ?? [], filesOf(podUID) ?? noFiles, processes.get(podUID));
  return new Map(pods.map(({ metadata }) => [metadata?.uid ?? '', usageOf(metadata?.uid ?? '')]));
}

const noFiles: PodFiles = { volumes: {}, memoryVolumes: {}, logs: {}, others: nothing };

function podUsage(stats: readonly ContainerStats[], { logs, ...files }: PodFiles, processes: number | undefined): PodUsage {
  const containers = stats.map(({ name, memoryWorkingSetBytes: memory, writableLayerBytes: bytes, writableLayerInodes = 0 }) => {
    const rootfs = bytes === undefined ? undefined : { bytes, inodes: writableLayerInodes };
    return [name, { memory, rootfs, logs: logs[name] }] as const;
  });
  // of a container that has ended the log is still there
  const ended = Object.entries(logs).map(([name, size]) => [name, { logs: size }] as const);
  const memory = containers.reduce((sum, [, one]) => sum + (one.memory ?? 0), 0);
  return { memory, processes, containers: Object.fromEntries([...ended, ...containers]), ...files };
}

// Behaviour of pkg/kubelet/eviction/eviction_manager.go (localStorageEviction), v1.36.3.

/** Only such pods may have to go for what they keep on the disk alone. */
export function hasStorageLimit({ spec }: Pod): boolean {
  const isLimited = (limits: Readonly<Record<string, string>> | undefined) => limits?.['ephemeral-storage'] !== undefined;
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  return (
    containers.some(({ resources }) => isLimited(resources?.limits)) ||
    isLimited(spec?.resources?.limits) ||
    (spec?.volumes ?? []).some(({ emptyDir }) => (emptyDir?.sizeLimit ?? undefined) !== undefined)
  );
}

/** Why a pod is to go that keeps more on the node's disk than it may; undefined: it may stay. */
export function storageLimitMessage(pod: Pod, usage: PodUsage, hasDedicatedImagefs: boolean): string | undefined {
  return emptyDirMessage(pod, usage) ?? podMessage(pod, usage) ?? containerMessage(pod, usage, hasDedicatedImagefs);
}

function emptyDirMessage({ spec }: Pod, { volumes, memoryVolumes }: PodUsage): string | undefined {
  for (const { name, emptyDir } of spec?.volumes ?? []) {
    const limit = emptyDir?.sizeLimit;
    const used = (volumes[name] ?? memoryVolumes[name])?.bytes;
    if (limit === undefined || limit === null || used === undefined) continue;
    if (wholeOf(limit) > 0 && used > wholeOf(limit)) {
      return `Usage of EmptyDir volume "${name}" exceeds the limit "${canonicalQuantity(limit)}". `;
    }
  }
  return undefined;
}

function podMessage({ spec }: Pod, usage: PodUsage): string | undefined {
  const limit = podLimits(spec)['ephemeral-storage'];
  if (limit === undefined || ephemeralStorageOf(usage).bytes <= wholeOf(limit)) return undefined;
  return `Pod ephemeral local storage usage exceeds the total limit of containers ${limit}. `;
}

function containerMessage({ spec }: Pod, { containers }: PodUsage, hasDedicatedImagefs: boolean): string | undefined {
  for (const { name, resources } of spec?.containers ?? []) {
    const limit = resources?.limits?.['ephemeral-storage'];
    const { rootfs, logs } = containers[name] ?? {};
    const used = (logs?.bytes ?? 0) + (hasDedicatedImagefs ? 0 : (rootfs?.bytes ?? 0));
    if (wholeOf(limit) === 0 || used <= wholeOf(limit)) continue;
    return `Container ${name} exceeded its local ephemeral storage limit "${canonicalQuantity(String(limit))}". `;
  }
  return undefined;
}
