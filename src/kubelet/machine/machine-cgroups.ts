import { existsSync } from 'node:fs';
import type { Pod } from '../../api/json/types.ts';
import type { ResourceQuantities } from '../../api/pod/pod-fields.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { CgroupManager, type CgroupManagerOptions } from '../cgroups/cgroup-manager.ts';
import type { PodCgroups } from '../cgroups/pod-cgroups.ts';
import type { LinuxContainerResources } from '../runtime/linux-resources.ts';
import type { ResourceUsage } from '../runtime/runtime-stats.ts';

export interface RuntimeOfCgroups {
  /** Asks the runtime who makes cgroups; undefined: it does not know. */
  readonly askDriver: () => Promise<'cgroupfs' | 'systemd' | undefined>;
  readonly logger: Logger;
}

/** The cgroups of this machine, which are opened when the agent starts. */
export class MachineCgroups implements PodCgroups {
  readonly version: 1 | 2 = existsSync('/sys/fs/cgroup/cgroup.controllers') ? 2 : 1;
  readonly #options: CgroupManagerOptions;
  readonly #runtime: RuntimeOfCgroups;
  #opened: CgroupManager | undefined;

  constructor(options: CgroupManagerOptions, runtime: RuntimeOfCgroups) {
    this.#options = options;
    this.#runtime = runtime;
  }

  async createBase(allocatable?: ResourceQuantities): Promise<void> {
    this.#opened ??= await CgroupManager.open({ ...this.#options, ...(await this.#driverOfRuntime()) });
    await this.#opened.createBase(allocatable);
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

  /** The runtime's own driver counts. The option is for a runtime that does not say, or not now. */
  async #driverOfRuntime(): Promise<Pick<CgroupManagerOptions, 'driver'>> {
    const { askDriver, logger } = this.#runtime;
    try {
      const driver = await askDriver();
      return driver === undefined ? {} : { driver };
    } catch (err) {
      logger.warn({ err }, 'the container runtime did not say which cgroup driver it has; that of the options is used');
      return {};
    }
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
