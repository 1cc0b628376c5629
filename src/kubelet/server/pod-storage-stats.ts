// Behaviour of makePodStorageStats and calcEphemeralStorage in pkg/kubelet/stats/helper.go, v1.36.3.
import { measuredAt } from './measured-at.ts';
import type { ContainerStatsEntry, FileSystemStats, VolumeStats } from './stats-types.ts';

/** What files take on a disk. */
export interface CountedSize {
  readonly bytes: number;
  readonly inodes: number;
}

/** What was counted of a pod's files on the node. */
export interface CountedFiles {
  /** When they were counted last, in milliseconds since the epoch. */
  readonly at: number;
  /** Of volumes on the node's disk, by name. */
  readonly volumes: Readonly<Record<string, CountedSize>>;
  /** Of volumes in memory, by name. */
  readonly memoryVolumes: Readonly<Record<string, CountedSize>>;
  /** By the container's name. */
  readonly logs: Readonly<Record<string, CountedSize>>;
  /** Of all other files that the pod has on the node's disk. */
  readonly others: CountedSize;
}

/** The file system that holds files of pods: what it has, and what is left of it. */
export type DiskStats = Omit<FileSystemStats, 'time' | 'usedBytes' | 'inodesUsed'>;

export function diskOf(fs: FileSystemStats | undefined): DiskStats {
  const { time: _time, usedBytes: _usedBytes, inodesUsed: _inodesUsed, ...disk } = fs ?? { time: '' };
  return disk;
}

/** A volume that is not there yet has no inode, and is left out. */
export function volumeStats({ at, volumes, memoryVolumes }: CountedFiles, disk: DiskStats): VolumeStats[] {
  const entries = (sizes: CountedFiles['volumes'], of: DiskStats): VolumeStats[] =>
    Object.entries(sizes)
      .filter(([, { inodes }]) => inodes > 0)
      .map(([name, size]) => ({ ...usedOf(size, at, of), name }));
  return [...entries(volumes, disk), ...entries(memoryVolumes, {})];
}

export function logStats(files: CountedFiles | undefined, container: string, disk: DiskStats): FileSystemStats | undefined {
  const size = files === undefined || !Object.hasOwn(files.logs, container) ? undefined : files.logs[container];
  return files === undefined || size === undefined ? undefined : usedOf(size, files.at, disk);
}

/** Own file systems of containers, logs and volumes on the node's disk together; undefined where nothing was measured. */
export function ephemeralStorage(
  containers: readonly ContainerStatsEntry[],
  files: CountedFiles | undefined,
  disk: DiskStats,
): FileSystemStats | undefined {
  const layers = containers.flatMap(({ rootfs }) => rootfs ?? []);
  if (layers.length === 0 && files === undefined) return undefined;
  const counted = files === undefined ? [] : [...Object.values(files.volumes), ...Object.values(files.logs), files.others];
  const sizes = [...layers.map(({ usedBytes: bytes = 0, inodesUsed: inodes = 0 }) => ({ bytes, inodes })), ...counted];
  const sum = sizes.reduce((all, { bytes, inodes }) => ({ bytes: all.bytes + bytes, inodes: all.inodes + inodes }), {
    bytes: 0,
    inodes: 0,
  });
  const times = [...layers.map(({ time }) => Date.parse(time)), ...(files === undefined ? [] : [files.at])];
  return usedOf(sum, Math.max(...times), disk);
}

/** In whole numbers. What is endless, since nobody could count it, is all that there is. */
function usedOf({ bytes, inodes }: CountedSize, at: number, disk: DiskStats): FileSystemStats {
  const most = { bytes: disk.capacityBytes ?? Number.MAX_SAFE_INTEGER, inodes: disk.inodes ?? Number.MAX_SAFE_INTEGER };
  const whole = (value: number, all: number): number => (Number.isFinite(value) ? Math.round(value) : all);
  return { time: measuredAt(at), ...disk, usedBytes: whole(bytes, most.bytes), inodesUsed: whole(inodes, most.inodes) };
}
