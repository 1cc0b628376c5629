import { totalmem } from 'node:os';
import type { Pod } from '../../api/json/types.ts';
import { type PodCgroups, uidOf } from '../../kubelet/cgroups/cgroup-manager.ts';
import { cgroupPath, podCgroup, qosClassOf } from '../../kubelet/cgroups/cgroup-names.ts';
import {
  type CheckedNodeLimits,
  checkedNodeLimits,
  type NodeLimits,
  podCgroupResources,
} from '../../kubelet/cgroups/cgroup-resources.ts';
import type { LinuxContainerResources, ResourceUsage } from '../../kubelet/runtime/runtime-containers.ts';

/** How cgroups are stood in for. */
export interface FakeCgroupsOptions {
  /** What of the node decides over the limits of its pods. */
  readonly limits?: NodeLimits;
  /**
   * True: `podParent` names the group that a pod would have. False, for a node whose pods have no groups of their own: it names the
   * root. Default true.
   */
  readonly perPod?: boolean;
}

/**
 * Keeps the limits of pods in memory and touches nothing of the machine: for a node in memory, and for one whose pods have no
 * cgroups of their own.
 *
 * @example
 * ```ts
 * import { FakeCgroups } from 'pod-status-manager/testing';
 *
 * const cgroups = new FakeCgroups();
 * const resources = { limits: { cpu: '1', memory: '64Mi' }, requests: { cpu: '500m' } };
 * const pod = { metadata: { uid: 'a1' }, spec: { containers: [{ name: 'app', resources }] } };
 * await cgroups.ensurePod(pod);
 * console.log(cgroups.podParent(pod)); // /kubepods/burstable/poda1
 * console.log((await cgroups.podResources(pod))?.cpuShares); // 512
 * ```
 */
export class FakeCgroups implements PodCgroups {
  readonly version: 1 | 2;
  readonly #limits: CheckedNodeLimits;
  readonly #perPod: boolean;
  readonly #pods = new Map<string, LinuxContainerResources>();

  constructor({ limits = {}, perPod = true }: FakeCgroupsOptions = {}) {
    this.#limits = checkedNodeLimits(limits, totalmem());
    this.#perPod = perPod;
    this.version = this.#limits.cgroupVersion;
  }

  podParent(pod: Pod): string {
    return this.#perPod ? cgroupPath(podCgroup([], uidOf(pod), qosClassOf(pod)), 'cgroupfs') : '/';
  }

  async createBase(): Promise<void> {}

  async limitGroup(): Promise<void> {}

  async updateClasses(): Promise<void> {}

  async ensurePod(pod: Pod): Promise<void> {
    const uid = uidOf(pod);
    if (!this.#pods.has(uid)) this.#pods.set(uid, podCgroupResources(pod, this.#limits));
  }

  async updatePod(pod: Pod, resources?: LinuxContainerResources): Promise<void> {
    const before = resources === undefined ? undefined : this.#pods.get(uidOf(pod));
    this.#pods.set(uidOf(pod), { ...before, ...(resources ?? podCgroupResources(pod, this.#limits)) });
  }

  async podResources(pod: Pod): Promise<LinuxContainerResources | undefined> {
    return this.#pods.get(uidOf(pod));
  }

  async removePod(pod: Pod | string): Promise<void> {
    this.#pods.delete(uidOf(pod));
  }

  async listPods(): Promise<readonly string[]> {
    return [...this.#pods.keys()];
  }

  async podUsage(): Promise<ResourceUsage | undefined> {
    return undefined;
  }

  async usage(): Promise<ResourceUsage | undefined> {
    return undefined;
  }
}
