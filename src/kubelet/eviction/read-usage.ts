import { readFile, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../api/json/types.ts';
import type { PodCgroups } from '../cgroups/pod-cgroups.ts';
import { wholeOf } from '../resize/resource-amounts.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';
import { runtimeLabels } from '../runtime/runtime-labels.ts';
import type { ContainerStats } from '../runtime/runtime-stats.ts';
import { nothing } from './tree-size.ts';
import type { NodeUsage, PodFiles, PodUsage, Supply } from './usage.ts';

export interface UsagePaths {
  /** The agent's root directory. */
  readonly rootDirectory: string;
  /** A path on the file system of images; undefined: that of the root directory. */
  readonly imagefsPath?: string | undefined;
  /** Where the kernel tells of itself. Default `/proc`. */
  readonly proc?: string;
}

/** What the machine has. Memory is what is free and what can be taken back from the cache of files. */
export async function readNodeUsage(paths: UsagePaths): Promise<NodeUsage> {
  const { rootDirectory, imagefsPath = rootDirectory, proc = '/proc' } = paths;
  const [memory, node, image, pids] = await Promise.all([
    readMemory(proc).catch(() => undefined),
    readFilesystem(rootDirectory).catch(() => undefined),
    readFilesystem(imagefsPath).catch(() => undefined),
    readPids(proc).catch(() => undefined),
  ]);
  return {
    ...{ memory, pids, nodefs: node?.bytes, nodefsInodes: node?.inodes, imagefs: image?.bytes, imagefsInodes: image?.inodes },
    hasDedicatedImagefs: node !== undefined && image !== undefined && node.device !== image.device,
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

async function readMemory(proc: string): Promise<Supply> {
  const text = await readFile(join(proc, 'meminfo'), 'utf8');
  const bytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]) * 1024;
  return known({ available: bytes('MemFree') + bytes('Inactive\\(file\\)'), capacity: bytes('MemTotal') });
}

async function readPids(proc: string): Promise<Supply> {
  const [most, load] = await Promise.all([
    readFile(join(proc, 'sys/kernel/pid_max'), 'utf8'),
    readFile(join(proc, 'loadavg'), 'utf8'),
  ]);
  const capacity = Number(most);
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
export interface PodUsageParts {
  /** What was counted of the pod's files; undefined where nothing was yet. Default: nothing is known of files. */
  readonly filesOf?: (podUID: string) => PodFiles | undefined;
  /** True: the runtime is asked for the number of processes, too. Default false. */
  readonly withProcesses?: boolean;
}

/** What pods take: what the runtime measures now, and what is known of their files. It waits for no look at files. */
export async function readPodUsages(
  pods: readonly Pod[],
  runtime: Pick<ContainerRuntime, 'listContainerStats' | 'listPodSandboxStats'>,
  { filesOf = () => undefined, withProcesses = false }: PodUsageParts,
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
