import { existsSync } from 'node:fs';
import { CgroupManager, type CgroupManagerOptions } from '../../cgroups/cgroup-manager.ts';
import type { PodCgroups } from '../../cgroups/pod-cgroups.ts';
import type { LinuxContainerResources } from '../../runtime/linux-resources.ts';
import type { ResourceUsage } from '../../runtime/runtime-stats.ts';
import type { Pod } from '../../wire/types.ts';

/** The cgroups of this machine, which are opened when the agent starts. */
export class MachineCgroups implements PodCgroups {
  readonly version: 1 | 2 = existsSync('/sys/fs/cgroup/cgroup.controllers') ? 2 : 1;
  readonly #options: CgroupManagerOptions;
  #opened: CgroupManager | undefined;

  constructor(options: CgroupManagerOptions) {
    this.#options = options;
  }

  async createBase(): Promise<void> {
    this.#opened ??= await CgroupManager.open(this.#options);
    await this.#opened.createBase();
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
  updateClasses: async () => {},
  ensurePod: async () => {},
  updatePod: async () => {},
  podResources: async () => undefined,
  removePod: async () => {},
  listPods: async () => [],
  podUsage: async () => undefined,
  usage: async () => undefined,
};
