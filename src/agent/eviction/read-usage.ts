import { readFile, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContainerRuntime } from '../../runtime/container-runtime.ts';
import { runtimeLabels } from '../../runtime/runtime-labels.ts';
import type { ContainerStats } from '../../runtime/runtime-stats.ts';
import type { Pod } from '../../wire/types.ts';
import { treeSize } from './tree-size.ts';
import type { ContainerUsage, NodeUsage, PodUsage, Supply } from './usage.ts';

export interface UsagePaths {
  /** The agent's root directory. */
  readonly rootDirectory: string;
  /** Where the logs of containers are. */
  readonly podLogsDirectory: string;
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

/** What pods take: by the runtime's measurements, and by what lies in their folders. */
export async function readPodUsages(
  pods: readonly Pod[],
  runtime: Pick<ContainerRuntime, 'listContainerStats'>,
  paths: UsagePaths,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, PodUsage>> {
  const byPod = Map.groupBy(await runtime.listContainerStats({}, { signal }), ({ labels }) => labels[runtimeLabels.podUID] ?? '');
  const usages = new Map<string, PodUsage>();
  for (const pod of pods) {
    const podUID = pod.metadata?.uid ?? '';
    usages.set(podUID, await readPodUsage(pod, byPod.get(podUID) ?? [], paths, signal));
  }
  return usages;
}

async function readPodUsage(
  { metadata, spec }: Pod,
  stats: readonly ContainerStats[],
  { rootDirectory, podLogsDirectory }: UsagePaths,
  signal: AbortSignal,
): Promise<PodUsage> {
  const { uid = '', name = '', namespace = '' } = metadata ?? {};
  const logs = join(podLogsDirectory, `${namespace}_${name}_${uid}`);
  const containers: Record<string, ContainerUsage> = {};
  for (const { name: container, memoryWorkingSetBytes, writableLayerBytes, writableLayerInodes } of stats) {
    containers[container] = {
      memory: memoryWorkingSetBytes,
      rootfs: writableLayerBytes,
      rootfsInodes: writableLayerInodes,
      logs: await treeSize(join(logs, container), signal),
    };
  }
  const volumes: Record<string, number> = {};
  const memoryVolumes: Record<string, number> = {};
  for (const { name: volume, emptyDir } of spec?.volumes ?? []) {
    if (emptyDir === undefined || emptyDir === null) continue;
    const path = join(rootDirectory, 'pods', uid, 'volumes/kubernetes.io~empty-dir', volume);
    const bytes = await treeSize(path, signal);
    if (emptyDir.medium === 'Memory') memoryVolumes[volume] = bytes;
    else volumes[volume] = bytes;
  }
  const memory = Object.values(containers).reduce((sum, one) => sum + (one.memory ?? 0), 0);
  return { memory, containers, volumes, memoryVolumes };
}
