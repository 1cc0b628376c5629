import type { WireNode } from '../../api/json/types.ts';
import type { HostPort } from '../../api/pod/host-ports.ts';
import type { GroupedPods } from './pod-index.ts';
import type { PodInfo } from './pod-info.ts';
import type { AllocatableAmounts, NonZeroAmounts, ResourceAmounts } from './resource.ts';

/** What is known of one image that a node has. */
export interface ImageState {
  /** How large the image is. */
  readonly sizeBytes: number;
  /** On how many nodes the image is. */
  readonly nodes: number;
}

/** A node with the pods on it, and their sums. */
export interface NodeInfo {
  /** The name of the node. */
  readonly name: string;
  /** The Node object, as the apiserver has it. */
  readonly node: WireNode;
  /** In the order in which they were added; the last one takes the place of one that goes. */
  readonly pods: readonly PodInfo[];
  /** Those of `pods` with affinity or anti-affinity to pods. */
  readonly podsWithAffinity: readonly PodInfo[];
  /** Those of `pods` with required anti-affinity to pods. */
  readonly podsWithRequiredAntiAffinity: readonly PodInfo[];
  /** The sum of what the pods ask for. */
  readonly requested: ResourceAmounts;
  /** The same sum, where no container counts for nothing. */
  readonly nonZeroRequested: NonZeroAmounts;
  /** What the node has for pods. */
  readonly allocatable: AllocatableAmounts;
  /** By each name that the node has for it. */
  readonly images: ReadonlyMap<string, ImageState>;
  /** Grows with each change of the node or its pods. */
  readonly generation: number;
  /** True where one of the pods has a port that conflicts with `port`. */
  hasConflict(port: HostPort): boolean;
  /** A copy that may be changed on trial. */
  clone(): TrialNodeInfo;
}

/** A copy of a node's state for what-if questions: preemption takes pods from it and puts them back. */
export interface TrialNodeInfo extends NodeInfo {
  /** Puts a pod on the node, and adds up what it asks for. */
  addPod(pod: PodInfo): void;
  /** False where no pod of that uid is there. */
  removePod(pod: PodInfo): boolean;
}

/** The nodes at one moment. A snapshot of the cache does not change while a pod is scheduled. */
export interface Snapshot {
  /** The nodes in the order in which they are tried: zones take turns. */
  readonly nodes: readonly NodeInfo[];
  /** Those of `nodes` where a pod has affinity or anti-affinity to pods. */
  readonly nodesWithAffinity: readonly NodeInfo[];
  /** Those of `nodes` where a pod has required anti-affinity to pods. */
  readonly nodesWithRequiredAntiAffinity: readonly NodeInfo[];
  /** The node of this name; undefined where there is none. */
  get(name: string): NodeInfo | undefined;
  /** The pods of the nodes. It may know of pods on other nodes, too: those are not in the snapshot. */
  readonly grouped: GroupedPods;
  /** Another number whenever a node comes, goes, or has other labels than before. */
  readonly labelsVersion: number;
}
