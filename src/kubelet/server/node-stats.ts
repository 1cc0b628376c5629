// Behaviour of pkg/kubelet/server/stats/summary.go and pkg/kubelet/stats/pidlimit, v1.36.3.
import { readFile, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { formatTime } from '../../api/json/time.ts';
import type { Clock } from '../../base/clock.ts';
import type { FilesystemUsage } from '../runtime/runtime-images.ts';
import { measuredAt } from './measured-at.ts';
import type { FileSystemStats, NodeStats } from './stats-types.ts';

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
    readText(proc, 'stat'),
    readText(proc, 'meminfo'),
    fileSystem(rootDirectory, time).catch(() => undefined),
    imageFileSystem(imageFilesystems, time).catch(() => undefined),
    processes(proc, time),
  ]);
  const usageCoreNanoSeconds = busyTicks(stat) * nanosecondsOfTick;
  const cpu = { time, ...(nanoCores !== undefined && { usageNanoCores: nanoCores }), usageCoreNanoSeconds };
  const startedAt = Number(/^btime (\d+)$/m.exec(stat)?.[1]) * 1000;
  return {
    ...{ nodeName, startTime: formatTime(Number.isFinite(startedAt) ? startedAt : now) },
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
  const nanoseconds = busyTicks(await readText(proc, 'stat')) * nanosecondsOfTick;
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
    readText(proc, 'sys/kernel/pid_max'),
    readText(proc, 'sys/kernel/threads-max'),
    readText(proc, 'loadavg'),
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

async function readText(proc: string, name: string): Promise<string> {
  return readFile(join(proc, name), 'utf8').catch(() => '');
}
