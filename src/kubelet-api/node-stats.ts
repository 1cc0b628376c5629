import { readFile, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../seams/clock.ts';
import { formatTime } from '../wire/time.ts';
import { measuredAt } from './measured-at.ts';
import type { FileSystemStats, NodeStats } from './stats-types.ts';

/** What is measured. */
export interface NodeStatsSources {
  /** The name of the node. */
  readonly nodeName: string;
  /** The folder whose file system is measured. */
  readonly rootDirectory: string;
  /** Where the kernel tells of itself. Default `/proc`. */
  readonly proc?: string;
  /** Where the time comes from. */
  readonly clock: Clock;
}

/** The kernel counts processor time in hundredths of a second, on every architecture that Node.js runs on. */
const nanosecondsOfTick = 10_000_000;

/** What the machine takes as a whole. Never rejects: what cannot be read is absent. */
export async function readNodeStats({ nodeName, rootDirectory, proc = '/proc', clock }: NodeStatsSources): Promise<NodeStats> {
  const now = clock.now();
  const time = measuredAt(now);
  const [stat, meminfo, fs] = await Promise.all([
    readFile(join(proc, 'stat'), 'utf8').catch(() => ''),
    readFile(join(proc, 'meminfo'), 'utf8').catch(() => ''),
    fileSystem(rootDirectory, time).catch(() => undefined),
  ]);
  const usageCoreNanoSeconds = busyTicks(stat) * nanosecondsOfTick;
  const kilobytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(meminfo)?.[1]) * 1024;
  const [total, availableBytes] = [kilobytes('MemTotal'), kilobytes('MemAvailable')];
  const startedAt = Number(/^btime (\d+)$/m.exec(stat)?.[1]) * 1000;
  const memory = { time, availableBytes, usageBytes: total - kilobytes('MemFree'), workingSetBytes: total - availableBytes };
  const swapAvailableBytes = kilobytes('SwapFree');
  const swap = { time, swapAvailableBytes, swapUsageBytes: kilobytes('SwapTotal') - swapAvailableBytes };
  return {
    ...{ nodeName, startTime: formatTime(Number.isFinite(startedAt) ? startedAt : now) },
    ...(Number.isFinite(usageCoreNanoSeconds) && { cpu: { time, usageCoreNanoSeconds } }),
    ...(Object.values(memory).every((value) => !Number.isNaN(value)) && { memory }),
    ...(!Number.isNaN(swap.swapUsageBytes) && { swap }),
    ...(fs !== undefined && { fs }),
  };
}

/** All but the time in which the processors had nothing to do. */
function busyTicks(stat: string): number {
  const ticks = /^cpu +(.*)$/m.exec(stat)?.[1]?.split(' ').map(Number);
  if (ticks === undefined) return Number.NaN;
  // user, nice, system, idle, iowait, irq, softirq, steal; what guests take is within user
  return ticks.slice(0, 8).reduce((sum, value, at) => (at === 3 || at === 4 ? sum : sum + value), 0);
}

async function fileSystem(path: string, time: string): Promise<FileSystemStats> {
  const { bavail, bfree, blocks, bsize, files, ffree } = await statfs(path);
  const bytes = { availableBytes: bavail * bsize, capacityBytes: blocks * bsize, usedBytes: (blocks - bfree) * bsize };
  return { time, ...bytes, ...(files > 0 && { inodesFree: ffree, inodes: files, inodesUsed: files - ffree }) };
}
