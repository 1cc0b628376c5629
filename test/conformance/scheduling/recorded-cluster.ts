import type { WireNode, WirePod } from '../../../src/api/json/types.ts';
import type { ClusterListers, SelectingObject } from '../../../src/scheduler/framework/plugin.ts';
import { createPodInfo, type PodInfo } from '../../../src/scheduler/nodes/pod-info.ts';

/** The objects of a cluster, as a recording of the scheduler has them. */
export interface RecordedCluster {
  readonly nodes: readonly WireNode[];
  /** Each has a nodeName. */
  readonly pods?: readonly WirePod[];
  /** Pods that wait for the node which they were promised. */
  readonly nominated?: readonly WirePod[];
  readonly namespaces?: readonly SelectingObject[];
  readonly services?: readonly SelectingObject[];
  readonly replicationControllers?: readonly SelectingObject[];
  readonly replicaSets?: readonly SelectingObject[];
  readonly statefulSets?: readonly SelectingObject[];
  readonly podDisruptionBudgets?: readonly SelectingObject[];
}

export function listersOf(recorded: RecordedCluster): ClusterListers {
  const inNamespace = (objects: readonly SelectingObject[] | undefined) => (namespace: string) =>
    (objects ?? []).filter(({ metadata }) => metadata?.namespace === namespace);
  return {
    namespaceLabels(name) {
      const found = recorded.namespaces?.find(({ metadata }) => metadata?.name === name);
      return found && (found.metadata?.labels ?? {});
    },
    services: inNamespace(recorded.services),
    replicationControllers: inNamespace(recorded.replicationControllers),
    replicaSets: inNamespace(recorded.replicaSets),
    statefulSets: inNamespace(recorded.statefulSets),
    podDisruptionBudgets: inNamespace(recorded.podDisruptionBudgets),
  };
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
