// Behaviour of pkg/kubelet/cm/cgroup_v1_manager_linux.go, v1.36.3, and the kernel's Documentation/admin-guide/cgroup-v1.

import type { Clock } from '../../base/clock.ts';
import { errorCodeOf } from '../../base/errors.ts';
import type { LinuxContainerResources, ResourceUsage } from '../runtime/runtime-containers.ts';
import { CgroupError, type CgroupFiles, removeGroup } from './cgroup-files.ts';
import {
  type CgroupTree,
  failedTo,
  type GroupResources,
  inFile,
  readNumber,
  readNumbers,
  workingSet,
  writeValue,
} from './cgroup-names.ts';

/** So much is what the kernel writes for no limit, or more. */
const noLimit = 2 ** 62;
const required = ['cpu', 'memory', 'pids'];
/** Others, such as `freezer`, have no groups but of those who use them. */
const needed = ['cpu', 'cpuacct', 'cpuset', 'memory', 'systemd', 'pids', 'hugetlb'];

/** Version 1: one hierarchy, with a group of each name, for each controller. */
export class CgroupsV1 implements CgroupTree {
  readonly version = 1;
  readonly #files: CgroupFiles;
  /** The root folder of each controller's hierarchy. */
  readonly #roots: ReadonlyMap<string, string>;

  private constructor(files: CgroupFiles, roots: ReadonlyMap<string, string>) {
    this.#files = files;
    this.#roots = roots;
  }

  /** Rejects with a {@link CgroupError} where a controller is missing that limits cannot do without. */
  static async open(files: CgroupFiles, root: string): Promise<CgroupsV1> {
    const roots = new Map<string, string>();
    // where controllers share a hierarchy, its folder is named after all of them, and each of them has a link to it
    for (const name of (await files.foldersIn(root)) ?? []) {
      const folder = `${root}/${name}`;
      const isVersion2 = (await files.read(`${folder}/cgroup.controllers`)) !== undefined;
      if (isVersion2 || (await files.read(`${folder}/cgroup.procs`)) === undefined) continue;
      for (const controller of name.split(',')) roots.set(controller, folder);
    }
    const missing = required.filter((controller) => !roots.has(controller));
    if (missing.length > 0) throw new CgroupError(`${root} has no hierarchy for ${missing.join(' and ')}`);
    return new CgroupsV1(files, roots);
  }

  foldersOf(group: string): readonly string[] {
    return [...new Set(this.#roots.values())].map((root) => `${root}${group}`);
  }

  neededFoldersOf(group: string): readonly string[] {
    const roots = new Set(needed.flatMap((controller) => this.#roots.get(controller) ?? []));
    return [...roots].map((root) => `${root}${group}`);
  }

  async make(group: string, resources: GroupResources = {}): Promise<void> {
    await Promise.all([...new Set(this.#roots.values())].map((root) => this.#makeIn(root, group)));
    await this.set(group, resources);
  }

  async set(group: string, resources: GroupResources): Promise<void> {
    const { cpuShares, memoryLimitInBytes, hugepageLimits, pidsLimit } = resources;
    if (cpuShares) await this.#write('cpu', group, 'cpu.shares', cpuShares);
    await this.#setQuota(group, resources);
    if (memoryLimitInBytes !== undefined) {
      await this.#write('memory', group, 'memory.limit_in_bytes', memoryLimitInBytes > 0 ? memoryLimitInBytes : -1);
    }
    if (pidsLimit !== undefined) await this.#write('pids', group, 'pids.max', pidsLimit);
    if (!this.#roots.has('hugetlb')) return;
    for (const { pageSize, limit } of hugepageLimits ?? []) {
      await this.#write('hugetlb', group, `hugetlb.${pageSize}.limit_in_bytes`, limit);
    }
  }

  async get(group: string): Promise<LinuxContainerResources | undefined> {
    const cpu = `${this.#roots.get('cpu')}${group}`;
    const [cpuShares, cpuQuota, cpuPeriod, memory] = await Promise.all([
      readNumber(this.#files, `${cpu}/cpu.shares`),
      readNumber(this.#files, `${cpu}/cpu.cfs_quota_us`),
      readNumber(this.#files, `${cpu}/cpu.cfs_period_us`),
      readNumber(this.#files, `${this.#roots.get('memory')}${group}/memory.limit_in_bytes`),
    ]);
    if (cpuShares === undefined) return undefined;
    return {
      cpuShares,
      ...(cpuQuota !== undefined && { cpuQuota }),
      ...(cpuPeriod !== undefined && { cpuPeriod }),
      ...(memory !== undefined && { memoryLimitInBytes: memory >= noLimit ? -1 : memory }),
    };
  }

  remove(group: string, clock: Clock): Promise<void> {
    return removeGroup(this.foldersOf(group), this.#files, clock);
  }

  /** A group that is not there is nowhere. */
  async forgetLost(): Promise<void> {}

  close(): void {}

  async usage(group: string, at: number): Promise<ResourceUsage | undefined> {
    const memory = `${this.#roots.get('memory')}${group}`;
    const cpuacct = this.#roots.get('cpuacct');
    const [usage, stat, cpuNanoseconds] = await Promise.all([
      readNumber(this.#files, `${memory}/memory.usage_in_bytes`),
      readNumbers(this.#files, `${memory}/memory.stat`),
      cpuacct === undefined ? undefined : readNumber(this.#files, `${cpuacct}${group}/cpuacct.usage`),
    ]);
    if (usage === undefined) return undefined;
    return {
      at,
      ...(cpuNanoseconds !== undefined && { cpuNanoseconds }),
      memoryUsageBytes: usage,
      memoryWorkingSetBytes: workingSet(usage, stat.get('total_inactive_file') ?? 0),
      memoryRssBytes: stat.get('total_rss') ?? 0,
    };
  }

  /** The parents mostly are there, so they are made only where the kernel misses one. */
  async #makeIn(root: string, group: string): Promise<void> {
    const folder = `${root}${group}`;
    const parent = group.slice(0, group.lastIndexOf('/'));
    try {
      await this.#files.makeFolder(folder);
    } catch (error) {
      if (errorCodeOf(error) !== 'ENOENT' || parent === '') throw failedTo('make', folder, error);
      await this.#makeIn(root, parent);
      await inFile('make', folder, () => this.#files.makeFolder(folder));
    }
    if (root === this.#roots.get('cpuset')) await this.#copyCpuset(folder);
  }

  /** Without processors and memory nodes of its own a group takes no process. */
  async #copyCpuset(folder: string): Promise<void> {
    const parent = folder.slice(0, folder.lastIndexOf('/'));
    for (const name of ['cpus', 'mems']) {
      const prefixed = await this.#files.read(`${folder}/cpuset.${name}`);
      // a hierarchy that was mounted with noprefix has names without `cpuset.`
      const file = prefixed === undefined ? name : `cpuset.${name}`;
      const own = prefixed ?? (await this.#files.read(`${folder}/${file}`));
      if (own?.trim() !== '') continue;
      const given = (await this.#files.read(`${parent}/${file}`))?.trim();
      if (given) await writeValue(this.#files, `${folder}/${file}`, given);
    }
  }

  async #setQuota(group: string, { cpuPeriod, cpuQuota }: LinuxContainerResources): Promise<void> {
    const quota = cpuQuota === undefined ? undefined : cpuQuota > 0 ? cpuQuota : -1;
    let isPeriodSet = cpuPeriod === undefined;
    if (cpuPeriod !== undefined) {
      try {
        await this.#write('cpu', group, 'cpu.cfs_period_us', cpuPeriod);
        isPeriodSet = true;
      } catch (error) {
        // the old quota in the new period can be more than the parent has: then the quota goes first
        if (quota === undefined || errorCodeOf((error as Error).cause) !== 'EINVAL') throw error;
      }
    }
    if (quota !== undefined) await this.#write('cpu', group, 'cpu.cfs_quota_us', quota);
    if (!isPeriodSet && cpuPeriod !== undefined) await this.#write('cpu', group, 'cpu.cfs_period_us', cpuPeriod);
  }

  #write(controller: string, group: string, file: string, value: number): Promise<void> {
    return writeValue(this.#files, `${this.#roots.get(controller)}${group}/${file}`, value);
  }
}
