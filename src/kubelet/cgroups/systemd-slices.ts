// Behaviour of systemd/v1.go and v2.go of github.com/opencontainers/cgroups v0.0.6, and of cgroup_manager_linux.go in
// pkg/kubelet/cm, v1.36.3.

import type { Clock } from '../../base/clock.ts';
import { errorText } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';
import type { LinuxContainerResources, ResourceUsage } from '../runtime/runtime-containers.ts';
import type { SystemdUnits } from '../systemd/systemd-units.ts';
import { CgroupError, type CgroupFiles, endProcesses, holdsAgent, removeGroup } from './cgroup-files.ts';
import type { CgroupTree, GroupResources } from './cgroup-names.ts';
import { asSystemdRounds, limitProperties, newSliceProperties, type SliceKind } from './slice-properties.ts';

export interface SystemdSlicesOptions {
  /** What reads and writes the groups that systemd has made. */
  readonly tree: CgroupTree;
  readonly units: SystemdUnits;
  readonly systemdVersion: number | undefined;
  readonly files: CgroupFiles;
}

/** The slice that all others are in. */
const rootSlice = '-.slice';

/**
 * Groups that are slices of systemd. What systemd has a property for it is told, so that it never brings an old value back; then
 * the same is written to the files, which has been done when the call ends, and shows what the kernel refuses.
 */
export class SystemdSlices implements CgroupTree {
  readonly version: 1 | 2;
  readonly #options: SystemdSlicesOptions;
  readonly #kind: SliceKind;

  constructor(options: SystemdSlicesOptions) {
    this.#options = options;
    this.version = options.tree.version;
    this.#kind = { cgroupVersion: options.tree.version, systemdVersion: options.systemdVersion };
  }

  foldersOf(group: string): readonly string[] {
    return this.#options.tree.foldersOf(group);
  }

  neededFoldersOf(group: string): readonly string[] {
    return this.#options.tree.neededFoldersOf(group);
  }

  async make(group: string, resources: GroupResources = {}): Promise<void> {
    const { tree, units } = this.#options;
    const [unit, parent] = [unitOf(group), unitOf(group.slice(0, group.lastIndexOf('/')))];
    const limits = limitProperties(resources, this.#kind);
    await inUnits(() => units.start(unit, [...newSliceProperties(unit, parent, this.#kind), ...limits], limits));
    // systemd lets no controller through that it does not know
    await tree.make(group, asSystemdRounds(resources));
  }

  async set(group: string, resources: GroupResources): Promise<void> {
    const { tree, units } = this.#options;
    const limits = limitProperties(resources, this.#kind);
    // systemd would keep limits for a group that is not there
    if (!(await this.#isThere(group)))
      throw new CgroupError(`cannot change ${unitOf(group)}: ${this.foldersOf(group)[0]} is not there`);
    if (limits.length > 0) await inUnits(() => units.change(unitOf(group), limits));
    await tree.set(group, asSystemdRounds(resources));
  }

  get(group: string): Promise<LinuxContainerResources | undefined> {
    return this.#options.tree.get(group);
  }

  usage(group: string, at: number): Promise<ResourceUsage | undefined> {
    return this.#options.tree.usage(group, at);
  }

  /**
   * Stopping a slice stops what is in it, which takes as long as that likes. So the processes are ended before, as those of
   * other groups. systemd may end what this agent cannot, such as processes that it does not see.
   */
  async remove(group: string, clock: Clock): Promise<void> {
    const { files, units } = this.#options;
    const folders = this.foldersOf(group);
    if (!(await this.#isThere(group))) return;
    const scopes = await this.#unitsIn(folders);
    try {
      await endProcesses(folders, files, clock);
    } catch (error) {
      if (await holdsAgent(folders, files)) throw error;
    }
    await inUnits(() => units.stop(unitOf(group)));
    await removeGroup(folders, files, clock);
    // one that was killed has failed for systemd, which remembers it
    for (const scope of scopes) await inUnits(() => units.forget(scope));
  }

  /** Has systemd forget slices right below the group that it knows, and that have no folder, such as those that an agent left halfway. */
  async forgetLost(group: string): Promise<void> {
    const { units, files } = this.#options;
    const beginning = unitOf(group).replace(/\.slice$/, '-');
    const there = new Set<string>();
    for (const folder of this.foldersOf(group)) for (const name of (await files.foldersIn(folder)) ?? []) there.add(name);
    for (const { name } of await inUnits(() => units.list(`${beginning}pod*.slice`))) {
      const isBelow = name.startsWith(`${beginning}pod`) && !name.slice(beginning.length).includes('-');
      // nothing runs in it: systemd may keep it
      if (isBelow && !there.has(name)) await units.stop(name).catch(ignoreFailure);
    }
  }

  close(): void {
    this.#options.units.close();
  }

  async #isThere(group: string): Promise<boolean> {
    const inside = await Promise.all(this.foldersOf(group).map((folder) => this.#options.files.foldersIn(folder)));
    return inside.some((names) => names !== undefined);
  }

  async #unitsIn(folders: readonly string[]): Promise<readonly string[]> {
    const names = await Promise.all(folders.map((folder) => this.#options.files.foldersIn(folder)));
    return [...new Set(names.flatMap((found) => found ?? []))].filter((name) => /\.(?:scope|slice)$/.test(name));
  }
}

/** The unit of a group: `/kubepods.slice/kubepods-burstable.slice` is `kubepods-burstable.slice`. */
function unitOf(group: string): string {
  return group.slice(group.lastIndexOf('/') + 1) || rootSlice;
}

async function inUnits<T>(doing: () => Promise<T>): Promise<T> {
  try {
    return await doing();
  } catch (error) {
    throw new CgroupError(errorText(error), { cause: error });
  }
}
