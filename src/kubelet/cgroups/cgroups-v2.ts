// Behaviour of pkg/kubelet/cm/cgroup_v2_manager_linux.go, v1.36.3, and the kernel's Documentation/admin-guide/cgroup-v2.
import type { Clock } from '../../base/clock.ts';
import type { LinuxContainerResources, ResourceUsage } from '../runtime/runtime-containers.ts';
import { CgroupError, type CgroupFiles, removeGroup, sharesOfWeight, weightOf } from './cgroup-files.ts';
import {
  type CgroupTree,
  type GroupResources,
  inFile,
  readNumber,
  readNumbers,
  withParents,
  workingSet,
  writeValue,
} from './cgroup-names.ts';

const wanted: readonly string[] = ['cpu', 'cpuset', 'memory', 'hugetlb', 'pids'];
const required: readonly string[] = ['cpu', 'memory', 'pids'];
const defaultPeriodUs = 100_000;

/** Version 2: one hierarchy, in which each group says which controllers its children have. */
export class CgroupsV2 implements CgroupTree {
  readonly version = 2;
  readonly #files: CgroupFiles;
  readonly #root: string;

  private constructor(files: CgroupFiles, root: string) {
    this.#files = files;
    this.#root = root;
  }

  /** Rejects with a {@link CgroupError} where a controller is missing that limits cannot do without. */
  static async open(files: CgroupFiles, root: string): Promise<CgroupsV2> {
    const tree = new CgroupsV2(files, root);
    const controllers = await tree.#controllersOf('');
    const missing = required.filter((controller) => !controllers.includes(controller));
    if (missing.length > 0) throw new CgroupError(`${root} has no controller for ${missing.join(' and ')}`);
    return tree;
  }

  foldersOf(group: string): readonly string[] {
    return [`${this.#root}${group}`];
  }

  neededFoldersOf(group: string): readonly string[] {
    return this.foldersOf(group);
  }

  async make(group: string, resources: GroupResources = {}): Promise<void> {
    let parent = '';
    for (const path of withParents(group)) {
      await this.#enableBelow(parent);
      const folder = `${this.#root}${path}`;
      await inFile('make', folder, () => this.#files.makeFolder(folder));
      parent = path;
    }
    const available = await this.#controllersOf(group);
    const missing = required.filter((controller) => !available.includes(controller));
    if (missing.length > 0) {
      throw new CgroupError(
        `${this.#root}${group} has no controller for ${missing.join(' and ')}: a group above it lets none through, as one does that has processes of its own`,
      );
    }
    await this.set(group, resources);
  }

  async set(group: string, { cpuShares, cpuQuota, cpuPeriod, memoryLimitInBytes, ...others }: GroupResources): Promise<void> {
    const folder = `${this.#root}${group}`;
    if (cpuShares) await writeValue(this.#files, `${folder}/cpu.weight`, weightOf(cpuShares));
    if (cpuQuota !== undefined) {
      const quota = cpuQuota > 0 ? cpuQuota : 'max';
      await writeValue(this.#files, `${folder}/cpu.max`, `${quota} ${cpuPeriod ?? defaultPeriodUs}`);
    }
    if (memoryLimitInBytes !== undefined) {
      await writeValue(this.#files, `${folder}/memory.max`, memoryLimitInBytes > 0 ? memoryLimitInBytes : 'max');
    }
    if (others.pidsLimit !== undefined) await writeValue(this.#files, `${folder}/pids.max`, others.pidsLimit);
    for (const [file, value] of Object.entries(others.unified ?? {})) await writeValue(this.#files, `${folder}/${file}`, value);
    if (!(await this.#controllersOf(group)).includes('hugetlb')) return;
    for (const { pageSize, limit } of others.hugepageLimits ?? []) {
      await writeValue(this.#files, `${folder}/hugetlb.${pageSize}.max`, limit);
    }
  }

  async get(group: string): Promise<LinuxContainerResources | undefined> {
    const folder = `${this.#root}${group}`;
    const [weight, max, memory] = await Promise.all([
      readNumber(this.#files, `${folder}/cpu.weight`),
      this.#files.read(`${folder}/cpu.max`),
      this.#files.read(`${folder}/memory.max`),
    ]);
    if (weight === undefined) return undefined;
    const [quota, period] = max?.trim().split(' ') ?? [];
    return {
      cpuShares: sharesOfWeight(weight),
      cpuQuota: quota === undefined || quota === 'max' ? -1 : Number(quota),
      cpuPeriod: Number(period ?? defaultPeriodUs),
      ...(memory !== undefined && { memoryLimitInBytes: memory.trim() === 'max' ? -1 : Number(memory) }),
    };
  }

  remove(group: string, clock: Clock): Promise<void> {
    return removeGroup(this.foldersOf(group), this.#files, clock);
  }

  /** A group that is not there is nowhere. */
  async forgetLost(): Promise<void> {}

  close(): void {}

  async usage(group: string, at: number): Promise<ResourceUsage | undefined> {
    const folder = `${this.#root}${group}`;
    const [current, stat, cpu] = await Promise.all([
      readNumber(this.#files, `${folder}/memory.current`),
      readNumbers(this.#files, `${folder}/memory.stat`),
      readNumbers(this.#files, `${folder}/cpu.stat`),
    ]);
    const cpuMicroseconds = cpu.get('usage_usec');
    // the root of the machine's groups has no such file
    const usage = current ?? (group === '' ? await this.#usedMemory() : undefined);
    if (usage === undefined) return undefined;
    return {
      at,
      ...(cpuMicroseconds !== undefined && { cpuNanoseconds: cpuMicroseconds * 1000 }),
      memoryUsageBytes: usage,
      memoryWorkingSetBytes: workingSet(usage, stat.get('inactive_file') ?? 0),
      memoryRssBytes: stat.get('anon') ?? 0,
    };
  }

  /** Lets the controllers through that there are. The kernel refuses all of a list where it refuses one, so each may go alone. */
  async #enableBelow(group: string): Promise<void> {
    const available = (await this.#controllersOf(group)).filter((controller) => wanted.includes(controller));
    const file = `${this.#root}${group}/cgroup.subtree_control`;
    const enabled = ((await this.#files.read(file)) ?? '').trim().split(' ');
    const missing = available.filter((controller) => !enabled.includes(controller));
    if (missing.length === 0) return;
    // what is refused here shows in the groups below, which lack the controller
    for (const controller of missing) await this.#files.write(file, `+${controller}`).catch(() => {});
  }

  async #controllersOf(group: string): Promise<readonly string[]> {
    return ((await this.#files.read(`${this.#root}${group}/cgroup.controllers`)) ?? '').trim().split(' ');
  }

  async #usedMemory(): Promise<number | undefined> {
    const text = await this.#files.read('/proc/meminfo');
    const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text ?? '')?.[1]);
    const used = (kilobytes('MemTotal') - kilobytes('MemFree')) * 1024;
    return Number.isFinite(used) ? used : undefined;
  }
}
