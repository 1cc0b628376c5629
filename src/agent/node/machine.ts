import { readdir, readFile, statfs } from 'node:fs/promises';
import { arch, release } from 'node:os';

/** What the agent knows of the machine that it runs on. */
export interface Machine {
  /** Processors that can be used. */
  readonly cpus: number;
  /** Bytes of memory. */
  readonly memoryBytes: number;
  /** Huge pages that are set aside, by page size in bytes. */
  readonly hugepages: ReadonlyMap<number, number>;
  /** How many processes there may be at once. */
  readonly maxProcesses: number;
  /** Such as `6.1.0-18-amd64`. */
  readonly kernelVersion: string;
  /** The machine's own id, which stays over restarts; empty where there is none. */
  readonly machineID: string;
  /** The id that the firmware gives. Where there is none, the machine's own id. */
  readonly systemUUID: string;
  /** Another one after each start of the machine. */
  readonly bootID: string;
  /** The name of the distribution, such as `Debian GNU/Linux 12 (bookworm)`. */
  readonly osImage: string;
  /** As Go names it: `amd64`, `arm64`. */
  readonly architecture: string;
}

const goArchitectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' };

/** Reads what the kernel says of the machine. What cannot be read is empty. */
export async function readMachine(): Promise<Machine> {
  const [cpuinfo, meminfo, machineID, uuid, bootID, osRelease, pidMax, hugepages] = await Promise.all([
    readText('/proc/cpuinfo'),
    readText('/proc/meminfo'),
    readText('/etc/machine-id'),
    readText('/sys/class/dmi/id/product_uuid'),
    readText('/proc/sys/kernel/random/boot_id'),
    readText('/etc/os-release'),
    readText('/proc/sys/kernel/pid_max'),
    readHugepages(),
  ]);
  const id = machineID.trim();
  return {
    cpus: Math.max(1, cpuinfo.match(/^processor\s*:/gm)?.length ?? 1),
    memoryBytes: memoryTotal(meminfo),
    hugepages,
    maxProcesses: Number(pidMax) || 32_768,
    kernelVersion: release(),
    machineID: id,
    systemUUID: uuid.trim() || id,
    bootID: bootID.trim(),
    osImage: prettyName(osRelease),
    architecture: goArchitectures[arch()] ?? arch(),
  };
}

/** The bytes of memory that `/proc/meminfo` names; 0 where it names none. */
export function memoryTotal(meminfo: string): number {
  return Number(/^MemTotal:\s+(\d+) kB$/m.exec(meminfo)?.[1] ?? 0) * 1024;
}

/** The name of the distribution in `/etc/os-release`; `Unknown` where there is none. */
export function prettyName(osRelease: string): string {
  const value = /^PRETTY_NAME=(.*)$/m.exec(osRelease)?.[1] ?? '';
  return value.replace(/^(["'])(.*)\1$/, '$2') || 'Unknown';
}

/** Bytes and inodes of the file system that holds `path`; undefined where it cannot be asked. */
export async function filesystemSize(path: string): Promise<{ readonly bytes: number; readonly inodes: number } | undefined> {
  try {
    const { bsize, blocks, files } = await statfs(path);
    return { bytes: bsize * blocks, inodes: files };
  } catch {
    return undefined;
  }
}

/** True where the kernel enforces AppArmor profiles. */
export async function hasAppArmor(): Promise<boolean> {
  return (await readText('/sys/module/apparmor/parameters/enabled')).trim() === 'Y';
}

async function readHugepages(): Promise<ReadonlyMap<number, number>> {
  const root = '/sys/kernel/mm/hugepages';
  const names = await readdir(root).catch(() => []);
  const pages = new Map<number, number>();
  for (const name of names) {
    const kilobytes = /^hugepages-(\d+)kB$/.exec(name)?.[1];
    if (kilobytes === undefined) continue;
    const count = Number(await readText(`${root}/${name}/nr_hugepages`));
    if (Number.isSafeInteger(count)) pages.set(Number(kilobytes) * 1024, count);
  }
  return pages;
}

async function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
