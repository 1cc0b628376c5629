import { existsSync, readdirSync, readFileSync, statfsSync } from 'node:fs';
import { arch, release } from 'node:os';
import { dirname } from 'node:path';
import type { Pod } from '../../api/json/types.ts';
import type { ResourceQuantities } from '../../api/pod/pod-fields.ts';
import { type SteadyClock, safeClock, sleep, systemClock } from '../../base/clock.ts';
import { callWithin } from '../../base/concurrency/aborts.ts';
import { errorText } from '../../base/errors.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { CgroupError } from '../cgroups/cgroup-files.ts';
import { CgroupManager, type CgroupManagerOptions, type PodCgroups } from '../cgroups/cgroup-manager.ts';
import type { CgroupDriver } from '../cgroups/cgroup-names.ts';
import { machineProcesses, pageSizeName } from '../cgroups/cgroup-resources.ts';
import type { RuntimeCall } from '../runtime/container-runtime.ts';
import type { LinuxContainerResources, ResourceUsage } from '../runtime/runtime-containers.ts';

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
  /** Bytes of swap. Absent: none. */
  readonly swapBytes?: number;
  /** True: the kernel can limit the swap of a group of cgroups. Absent: false. */
  readonly limitsSwap?: boolean;
  /** The file of the kernel's messages, which say that a process was ended for want of memory. Absent: nothing is told of that. */
  readonly kernelLog?: string;
}

const goArchitectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' };

/** Reads what the kernel says of the machine. What cannot be read is empty. */
export function readMachine(): Machine {
  const id = kernelText('/etc/machine-id').trim();
  return {
    cpus: Math.max(1, kernelText('/proc/cpuinfo').match(/^processor\s*:/gm)?.length ?? 1),
    memoryBytes: memoryTotal(kernelText('/proc/meminfo')),
    swapBytes: swapTotal(kernelText('/proc/meminfo')),
    limitsSwap: hasSwapController(),
    hugepages: readHugepages(),
    maxProcesses: machineProcesses() ?? 32_768,
    kernelVersion: release(),
    machineID: id,
    systemUUID: kernelText('/sys/class/dmi/id/product_uuid').trim() || id,
    bootID: kernelText('/proc/sys/kernel/random/boot_id').trim(),
    osImage: prettyName(kernelText('/etc/os-release')),
    architecture: goArchitectures[arch()] ?? arch(),
    kernelLog: '/dev/kmsg',
  };
}

/** The sizes of the machine's huge pages, as the kernel names them in cgroups: `2MB`. */
export function pageSizesOf({ hugepages }: Machine): string[] {
  return [...hugepages.keys()].flatMap((bytes) => pageSizeName(bytes) ?? []);
}

/** The bytes of memory that `/proc/meminfo` names; 0 where it names none. */
export function memoryTotal(meminfo: string): number {
  return Number(/^MemTotal:\s+(\d+) kB$/m.exec(meminfo)?.[1] ?? 0) * 1024;
}

/** The bytes of swap that `/proc/meminfo` names; 0 where it names none. */
export function swapTotal(meminfo: string): number {
  return Number(/^SwapTotal:\s+(\d+) kB$/m.exec(meminfo)?.[1] ?? 0) * 1024;
}

/** pkg/kubelet/kuberuntime checkSwapControllerAvailability: the root of the groups of version 2 has no such file, the agent's own has. */
function hasSwapController(): boolean {
  const root = '/sys/fs/cgroup';
  if (!existsSync(`${root}/cgroup.controllers`)) return existsSync(`${root}/memory/memory.memsw.limit_in_bytes`);
  const own = /^0::(.*)$/m.exec(kernelText('/proc/self/cgroup'))?.[1] ?? '';
  return existsSync(`${root}${own}/memory.swap.max`);
}

/** The size of a page of memory in bytes, as the kernel told this process; 4,096 where it is not to be read. */
export function pageSize(
  auxiliary: Buffer | undefined = callGuarded(() => readFileSync('/proc/self/auxv'), ignoreFailure),
): number {
  const pairs = Math.floor((auxiliary?.length ?? 0) / 16);
  for (let pair = 0; pair < pairs; pair++) {
    const at = pair * 16;
    if (auxiliary?.readBigUInt64LE(at) === pageSizeKey) return Number(auxiliary.readBigUInt64LE(at + 8));
  }
  return 4096;
}

/** AT_PAGESZ of the kernel's uapi/linux/auxvec.h. */
const pageSizeKey = 6n;

/** The name of the distribution in `/etc/os-release`; `Unknown` where there is none. */
export function prettyName(osRelease: string): string {
  const value = /^PRETTY_NAME=(.*)$/m.exec(osRelease)?.[1] ?? '';
  return value.replace(/^(["'])(.*)\1$/, '$2') || 'Unknown';
}

/** The bytes of the file system that holds `path`, or the folder nearest to it; undefined where it cannot be asked. */
export function filesystemBytes(path: string): number | undefined {
  for (let folder = path; ; folder = dirname(folder)) {
    const size = callGuarded(() => statfsSync(folder), ignoreFailure);
    if (size !== undefined) return size.bsize * size.blocks;
    if (folder === dirname(folder)) return undefined;
  }
}

/** True where the kernel enforces AppArmor profiles. */
export function hasAppArmor(): boolean {
  return kernelText('/sys/module/apparmor/parameters/enabled').trim() === 'Y';
}

function readHugepages(): ReadonlyMap<number, number> {
  const root = '/sys/kernel/mm/hugepages';
  const names = callGuarded(() => readdirSync(root), ignoreFailure) ?? [];
  const pages = new Map<number, number>();
  for (const name of names) {
    const kilobytes = /^hugepages-(\d+)kB$/.exec(name)?.[1];
    const count = Number(kernelText(`${root}/${name}/nr_hugepages`));
    if (kilobytes !== undefined && Number.isSafeInteger(count)) pages.set(Number(kilobytes) * 1024, count);
  }
  return pages;
}

/** What a file of the kernel says now; empty where there is none. */
export function kernelText(path: string): string {
  return callGuarded(() => readFileSync(path, 'utf8'), ignoreFailure) ?? '';
}

export interface RuntimeOfCgroups {
  /** Asks the runtime who makes cgroups; undefined: it does not know. */
  readonly askDriver: (call: RuntimeCall) => Promise<'cgroupfs' | 'systemd' | undefined>;
  readonly logger: Logger;
}

/** So long a runtime is asked for its driver that does not answer, as one that starts with the machine. */
const askedForMs = 60_000;
const askAgainMs = 2000;
/** How long it may take over one answer. */
const answerLimitMs = 10_000;

/** The cgroups of this machine, which are opened when the agent starts. */
export class MachineCgroups implements PodCgroups {
  readonly version: 1 | 2 = existsSync('/sys/fs/cgroup/cgroup.controllers') ? 2 : 1;
  readonly #options: CgroupManagerOptions;
  readonly #runtime: RuntimeOfCgroups;
  readonly #clock: SteadyClock;
  #opened: CgroupManager | undefined;
  #driver: CgroupDriver | undefined;

  constructor(options: CgroupManagerOptions, runtime: RuntimeOfCgroups) {
    this.#options = options;
    this.#clock = safeClock(options.clock ?? systemClock);
    this.#runtime = runtime;
  }

  async createBase(allocatable?: ResourceQuantities, signal: AbortSignal = new AbortController().signal): Promise<void> {
    if (this.#opened === undefined) {
      const options = { ...this.#options, ...(await this.#driverOfRuntime(signal)) };
      this.#opened ??= await CgroupManager.open(options);
      this.#driver ??= options.driver;
    }
    // whoever stops meanwhile has closed what was open then
    if (signal.aborted) this.close();
    await this.#opened.createBase(allocatable, signal);
  }

  /** Who makes the cgroups; undefined: it is not known yet. */
  get driver(): CgroupDriver | undefined {
    return this.#driver;
  }

  /** Ends the connection to systemd, where there is one. The next call opens one anew. */
  close(): void {
    this.#opened?.close();
  }

  async limitGroup(group: string, amounts: ResourceQuantities, onlyCompressible?: boolean): Promise<void> {
    await this.#cgroups.limitGroup(group, amounts, onlyCompressible);
  }

  podParent(pod: Pod): string {
    return this.#cgroups.podParent(pod);
  }

  async updateClasses(pods: Iterable<Pod>): Promise<void> {
    await this.#cgroups.updateClasses(pods);
  }

  async ensurePod(pod: Pod): Promise<void> {
    await this.#cgroups.ensurePod(pod);
  }

  async updatePod(pod: Pod, resources?: LinuxContainerResources): Promise<void> {
    await this.#cgroups.updatePod(pod, resources);
  }

  async podResources(pod: Pod): Promise<LinuxContainerResources | undefined> {
    return this.#cgroups.podResources(pod);
  }

  async removePod(pod: Pod | string): Promise<void> {
    await this.#cgroups.removePod(pod);
  }

  async listPods(): Promise<readonly string[]> {
    return this.#cgroups.listPods();
  }

  async podUsage(podUID: string): Promise<ResourceUsage | undefined> {
    return this.#cgroups.podUsage(podUID);
  }

  async usage(of: 'pods' | 'node'): Promise<ResourceUsage | undefined> {
    return this.#cgroups.usage(of);
  }

  /**
   * The runtime's own driver counts. The option is for a runtime that does not know the question. One that does not answer is asked
   * again: a guess that is wrong would cost every pod of the node its start.
   */
  async #driverOfRuntime(signal: AbortSignal): Promise<Pick<CgroupManagerOptions, 'driver'>> {
    const until = this.#clock.elapsed() + askedForMs;
    for (let tries = 1; ; tries += 1) {
      try {
        const driver = await this.#askDriver(until, signal);
        return driver === undefined ? {} : { driver };
      } catch (err) {
        signal.throwIfAborted();
        const help = 'start the container runtime, and then the agent';
        if (this.#clock.elapsed() + askAgainMs >= until) {
          throw new CgroupError(`the container runtime did not say which cgroup driver it has: ${errorText(err)}; ${help}`, {
            cause: err,
          });
        }
        const { logger } = this.#runtime;
        if (tries === 1) logger.warn({ err }, 'the container runtime does not say which cgroup driver it has; it is asked again');
        await sleep(this.#clock, askAgainMs, signal);
        signal.throwIfAborted();
      }
    }
  }

  #askDriver(until: number, signal: AbortSignal): Promise<'cgroupfs' | 'systemd' | undefined> {
    const timeoutMs = Math.max(0, Math.min(answerLimitMs, until - this.#clock.elapsed()));
    const late = () => new Error(`no answer in ${timeoutMs / 1000} s`);
    return callWithin((over) => this.#runtime.askDriver({ signal: over }), { clock: this.#clock, timeoutMs, signal, late });
  }

  get #cgroups(): CgroupManager {
    if (this.#opened === undefined) throw new Error('the cgroups of the machine are not open yet');
    return this.#opened;
  }
}

/** For a node whose pods have no cgroups of their own: their containers are put where the runtime puts them. */
export const noPodCgroups: PodCgroups = {
  version: existsSync('/sys/fs/cgroup/cgroup.controllers') ? 2 : 1,
  podParent: () => '',
  createBase: async () => {},
  limitGroup: async () => {},
  updateClasses: async () => {},
  ensurePod: async () => {},
  updatePod: async () => {},
  podResources: async () => undefined,
  removePod: async () => {},
  listPods: async () => [],
  podUsage: async () => undefined,
  usage: async () => undefined,
};
