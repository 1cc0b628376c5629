import type { WireNode, WirePod } from '../../../src/api/json/types.ts';
import { resources } from '../../../src/client/resources/api-resource.ts';
import type { ClusterObjects } from '../../../src/scheduler/framework/cluster-objects.ts';
import { createPodInfo, type PodInfo } from '../../../src/scheduler/nodes/pod-info.ts';
import { clusterObjects } from '../../support/cluster-objects.ts';

/** The objects of a cluster, as a recording of the scheduler has them. */
export interface RecordedCluster {
  readonly nodes: readonly WireNode[];
  /** Each has a nodeName. */
  readonly pods?: readonly WirePod[];
  /** Pods that wait for the node which they were promised. */
  readonly nominated?: readonly WirePod[];
  readonly namespaces?: readonly object[];
  readonly services?: readonly object[];
  readonly replicationControllers?: readonly object[];
  readonly replicaSets?: readonly object[];
  readonly statefulSets?: readonly object[];
  readonly podDisruptionBudgets?: readonly object[];
  readonly persistentVolumes?: readonly object[];
  readonly persistentVolumeClaims?: readonly object[];
  readonly storageClasses?: readonly object[];
  readonly csiNodes?: readonly object[];
  readonly csiDrivers?: readonly object[];
  readonly csiStorageCapacities?: readonly object[];
  readonly volumeAttachments?: readonly object[];
}

/** What plugins are told of beside pods and nodes. */
export function objectsOf(recorded: RecordedCluster): ClusterObjects {
  const { nodes: _nodes, pods: _pods, nominated: _nominated, ...others } = recorded;
  return clusterObjects(Object.fromEntries(Object.entries(others).filter(([name]) => Object.hasOwn(resources, name))));
}

/**
 * The pods that were promised this node. Upstream looks a promised pod up in its queue, and the queue of the recordings is
 * empty: it knows no more than the pod's name and uid, so that the pod asks for nothing and has priority 0.
 */
export function promisedPods(nodeName: string, { nominated = [] }: RecordedCluster): PodInfo[] {
  return nominated
    .filter(({ status }) => status?.nominatedNodeName === nodeName)
    .map(({ metadata: { name, namespace, uid } = {} }) => createPodInfo({ metadata: { name, namespace, uid } } as WirePod));
}

/** Why a pod does not fit on a node, or on any. */
export interface RecordedFailure {
  /** Absent where no plugin is named. */
  readonly plugin?: string;
  readonly code: string;
  readonly reasons: readonly string[];
}
