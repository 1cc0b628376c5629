// Behaviour of pkg/kubelet/server/stats/summary.go and pkg/kubelet/stats/pidlimit, v1.36.3.
import { readFile, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { formatTime, measuredAt } from '../../api/json/time.ts';
import { type Clock, type SteadyClock, sleep } from '../../base/clock.ts';
import type { ContainerStatsEntry, FileSystemStats, NodeStats, VolumeStats } from '../../node/server/stats-types.ts';
import type { FilesystemUsage } from '../runtime/runtime-images.ts';

/** What is measured. */
export interface NodeStatsSources {
  /** The name of the node. */
  readonly nodeName: string;
  /** The folder whose file system is measured. */
  readonly rootDirectory: string;
  /** What the runtime says of the file systems of images, the first of which counts. Default: nothing. */
  readonly imageFilesystems?: () => Promise<readonly FilesystemUsage[]>;
  /** The processor time that is taken now, in nanoseconds a second. Default: it is not known. */
  readonly nanoCores?: number | undefined;
  /** Where the kernel tells of itself. Default `/proc`. */
  readonly proc?: string;
  /** Where the time comes from. */
  readonly clock: Clock;
}

/** The kernel counts processor time in hundredths of a second, on every architecture that Node.js runs on. */
const nanosecondsOfTick = 10_000_000;

/** What the machine takes as a whole. Never rejects: what cannot be read is absent. */
export async function readNodeStats(sources: NodeStatsSources): Promise<NodeStats> {
  const { nodeName, rootDirectory, imageFilesystems = async () => [], nanoCores, proc = '/proc', clock } = sources;
  const now = clock.now();
  const time = measuredAt(now);
  const [stat, meminfo, fs, imageFs, rlimit] = await Promise.all([
    procText(proc, 'stat'),
    procText(proc, 'meminfo'),
    fileSystem(rootDirectory, time).catch(() => undefined),
    imageFileSystem(imageFilesystems, time).catch(() => undefined),
    processes(proc, time),
  ]);
  const usageCoreNanoSeconds = busyTicks(stat) * nanosecondsOfTick;
  const cpu = { time, ...(nanoCores !== undefined && { usageNanoCores: nanoCores }), usageCoreNanoSeconds };
  const startedAt = Number(/^btime (\d+)$/m.exec(stat)?.[1]) * 1000;
  return {
    nodeName,
    startTime: formatTime(Number.isFinite(startedAt) ? startedAt : now),
    ...(Number.isFinite(usageCoreNanoSeconds) && { cpu }),
    ...memoryIn(meminfo, time),
    ...(fs !== undefined && { fs }),
    // containers write where their images are: CRI tells of no other file system of theirs
    ...(imageFs !== undefined && { runtime: { imageFs, containerFs: imageFs } }),
    ...(rlimit !== undefined && { rlimit }),
  };
}

/** The processor time of the machine since its start, in nanoseconds; undefined where the kernel does not say. */
export async function readProcessorTime(proc = '/proc'): Promise<number | undefined> {
  const nanoseconds = busyTicks(await procText(proc, 'stat')) * nanosecondsOfTick;
  return Number.isFinite(nanoseconds) ? nanoseconds : undefined;
}

/** All but the time in which the processors had nothing to do. */
function busyTicks(stat: string): number {
  const ticks = /^cpu +(.*)$/m.exec(stat)?.[1]?.split(' ').map(Number);
  if (ticks === undefined) return Number.NaN;
  // user, nice, system, idle, iowait, irq, softirq, steal; what guests take is within user
  return ticks.slice(0, 8).reduce((sum, value, at) => (at === 3 || at === 4 ? sum : sum + value), 0);
}

function memoryIn(meminfo: string, time: string): Pick<NodeStats, 'memory' | 'swap'> {
  const kilobytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(meminfo)?.[1]) * 1024;
  const [total, availableBytes, swapAvailableBytes] = [kilobytes('MemTotal'), kilobytes('MemAvailable'), kilobytes('SwapFree')];
  const memory = { time, availableBytes, usageBytes: total - kilobytes('MemFree'), workingSetBytes: total - availableBytes };
  const swap = { time, swapAvailableBytes, swapUsageBytes: kilobytes('SwapTotal') - swapAvailableBytes };
  return {
    ...(Object.values(memory).every((value) => !Number.isNaN(value)) && { memory }),
    ...(!Number.isNaN(swap.swapUsageBytes) && { swap }),
  };
}

/** The most processes and those that there are; undefined where the kernel says neither. */
async function processes(proc: string, time: string): Promise<NodeStats['rlimit']> {
  const [ids, threads, load] = await Promise.all([
    procText(proc, 'sys/kernel/pid_max'),
    procText(proc, 'sys/kernel/threads-max'),
    procText(proc, 'loadavg'),
  ]);
  const limits = [ids, threads].filter((text) => /^\d+\s*$/.test(text)).map(Number);
  const running = /^\S+ \S+ \S+ \d+\/(\d+) /.exec(load)?.[1];
  if (limits.length === 0 && running === undefined) return undefined;
  return {
    time,
    ...(limits.length > 0 && { maxpid: Math.min(...limits) }),
    ...(running !== undefined && { curproc: Number(running) }),
  };
}

async function imageFileSystem(
  list: NonNullable<NodeStatsSources['imageFilesystems']>,
  now: string,
): Promise<FileSystemStats | undefined> {
  const [usage] = await list();
  if (usage === undefined) return undefined;
  const { mountpoint, usedBytes, inodesUsed, at } = usage;
  const whole = await fileSystem(mountpoint, now).catch(() => undefined);
  return { ...whole, time: at > 0 ? measuredAt(at) : now, usedBytes, inodesUsed };
}

async function fileSystem(path: string, time: string): Promise<FileSystemStats> {
  const { bavail, bfree, blocks, bsize, files, ffree } = await statfs(path);
  const bytes = { availableBytes: bavail * bsize, capacityBytes: blocks * bsize, usedBytes: (blocks - bfree) * bsize };
  return { time, ...bytes, ...(files > 0 && { inodesFree: ffree, inodes: files, inodesUsed: files - ffree }) };
}

async function procText(proc: string, name: string): Promise<string> {
  return readFile(join(proc, name), 'utf8').catch(() => '');
}

// Behaviour of makePodStorageStats and calcEphemeralStorage in pkg/kubelet/stats/helper.go, v1.36.3.

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

export interface CpuSamplerOptions {
  /** The processor time since the start, in nanoseconds; undefined where nobody says. */
  readonly read: () => Promise<number | undefined>;
  readonly clock: SteadyClock;
  /** How often it is read, in milliseconds. */
  readonly periodMs?: number;
}

interface CpuSample {
  readonly nanoseconds: number;
  /** By the clock's elapsed time. */
  readonly at: number;
}

/** Reads processor time again and again, since what is taken now is the difference of two readings. */
export class CpuSampler {
  readonly #options: CpuSamplerOptions;
  readonly #clock: SteadyClock;
  readonly #stopping = new AbortController();
  #last: CpuSample | undefined;
  #nanoCores: number | undefined;
  #run: Promise<void> = Promise.resolve();

  constructor(options: CpuSamplerOptions) {
    this.#options = options;
    this.#clock = options.clock;
  }

  /** Nanoseconds a second, between the last two readings; undefined before there are two. */
  get nanoCores(): number | undefined {
    return this.#nanoCores;
  }

  start(): void {
    this.#run = this.#readOnAndOn();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#run;
  }

  async #readOnAndOn(): Promise<void> {
    const { read, periodMs = 10_000 } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      this.#note(await read().catch(() => undefined));
      await sleep(this.#clock, periodMs, signal);
    }
  }

  #note(nanoseconds: number | undefined): void {
    const before = this.#last;
    const at = this.#clock.elapsed();
    this.#last = nanoseconds === undefined ? undefined : { nanoseconds, at };
    const isCountedOn = before !== undefined && nanoseconds !== undefined && nanoseconds >= before.nanoseconds && at > before.at;
    this.#nanoCores = isCountedOn ? Math.round(((nanoseconds - before.nanoseconds) / (at - before.at)) * 1000) : undefined;
  }
}
