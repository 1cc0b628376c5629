import type { HostPort } from '../../placement/host-ports.ts';
import type { WireNode } from '../../wire/node-types.ts';
import type { GroupedPods } from './pod-index.ts';
import type { PodInfo } from './pod-info.ts';
import type { AllocatableAmounts, NonZeroAmounts, ResourceAmounts } from './resource.ts';

/** What is known of one image that a node has. */
export interface ImageState {
  readonly sizeBytes: number;
  /** On how many nodes the image is. */
  readonly nodes: number;
}

/** A node with the pods on it, and their sums. */
export interface NodeInfo {
  readonly name: string;
  readonly node: WireNode;
  /** In the order in which they were added; the last one takes the place of one that goes. */
  readonly pods: readonly PodInfo[];
  readonly podsWithAffinity: readonly PodInfo[];
  readonly podsWithRequiredAntiAffinity: readonly PodInfo[];
  readonly requested: ResourceAmounts;
  readonly nonZeroRequested: NonZeroAmounts;
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
  addPod(pod: PodInfo): void;
  /** False where no pod of that uid is there. */
  removePod(pod: PodInfo): boolean;
}

/** The nodes at one moment. A snapshot of the cache does not change while a pod is scheduled. */
export interface Snapshot {
  /** The nodes in the order in which they are tried: zones take turns. */
  readonly nodes: readonly NodeInfo[];
  readonly nodesWithAffinity: readonly NodeInfo[];
  readonly nodesWithRequiredAntiAffinity: readonly NodeInfo[];
  get(name: string): NodeInfo | undefined;
  /** The pods of the nodes. It may know of pods on other nodes, too: those are not in the snapshot. */
  readonly grouped: GroupedPods;
  /** Another number whenever a node comes, goes, or has other labels than before. */
  readonly labelsVersion: number;
}
