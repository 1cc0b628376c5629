import type { Pod } from '../../api/json/types.ts';
import type { ResourceQuantities } from '../../api/pod/pod-fields.ts';
import type { LinuxContainerResources } from '../runtime/linux-resources.ts';
import type { ResourceUsage } from '../runtime/runtime-stats.ts';

/** The cgroups of a node's pods. Calls for one pod come one after another; calls for different pods may overlap. */
export interface PodCgroups {
  /** The version of the node's cgroups. */
  readonly version: 1 | 2;
  /** The cgroup that the pod's containers are put under, such as `/kubepods/burstable/podA`. */
  podParent(pod: Pod): string;
  /**
   * Makes the groups of all pods and of each class of them. What the node can give limits all pods together, where it is given:
   * `cpu`, `memory`, huge pages, and processes as `pid`, by default as many as the kernel has.
   * Rejects with an error that names the group and the file.
   */
  createBase(allocatable?: ResourceQuantities): Promise<void>;
  /**
   * Gives the group of all burstable pods the weight of what these pods ask for together. It is called for each pod that begins or ends,
   * and every two seconds: where nothing is to change it does little.
   */
  updateClasses(pods: Iterable<Pod>): Promise<void>;
  /** Makes the pod's group with the limits of its spec. One that containers are in stays as it is. */
  ensurePod(pod: Pod): Promise<void>;
  /** Gives the pod's group those limits; what is absent stays. Without `resources`: the limits of the pod's spec, and no others. */
  updatePod(pod: Pod, resources?: LinuxContainerResources): Promise<void>;
  /** The limits that are in force for the pod's group; undefined where there is no such group. */
  podResources(pod: Pod): Promise<LinuxContainerResources | undefined>;
  /** Kills what is left in the group of the pod, or of the pod with that uid, and removes it. One that is not there is no error. */
  removePod(pod: Pod | string): Promise<void>;
  /** The uids of the pods that have a group. */
  listPods(): Promise<readonly string[]>;
  /** What a pod takes; undefined where there is no such group. */
  podUsage(podUID: string): Promise<ResourceUsage | undefined>;
  /** What all pods take together, or what the whole node takes; undefined where the kernel does not say. */
  usage(of: 'pods' | 'node'): Promise<ResourceUsage | undefined>;
}

/** The uid of a pod, or the uid itself. */
export function uidOf(pod: Pod | string): string {
  return typeof pod === 'string' ? pod : (pod.metadata?.uid ?? '');
}
