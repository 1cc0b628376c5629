import type { Framework } from '../../../src/scheduler/framework/framework.ts';
import type { ClusterListers, SelectingObject } from '../../../src/scheduler/framework/handle.ts';
import { createNodeInfo, snapshotOf } from '../../../src/scheduler/nodes/node-list.ts';
import type { PodInfo } from '../../../src/scheduler/nodes/pod-info.ts';
import { createPodInfo } from '../../../src/scheduler/nodes/pod-info-factory.ts';
import { createFrameworks } from '../../../src/scheduler/profile/frameworks.ts';
import type { WirePod } from '../../../src/wire/types.ts';
import type { PreemptCase } from './case.ts';

/** The scheduler of one case, with its default plugins. */
export function frameworkOf(recorded: PreemptCase): Framework {
  const pods = (recorded.pods ?? []).map((pod) => createPodInfo(pod));
  const snapshot = snapshotOf(
    recorded.nodes.map((node) =>
      createNodeInfo(
        node,
        pods.filter(({ pod }) => pod.spec?.nodeName === node.metadata?.name),
      ),
    ),
  );
  const frameworks = createFrameworks({
    snapshot: () => snapshot,
    listers: listersOf(recorded),
    nominated: { onNode: (name) => nominatedOn(name, recorded) },
    client: { bind: unused, patchStatus: unused, deletePod: unused, event: unused },
    isPreempting: () => false,
    random: () => 0,
    now: () => Date.parse('2000-01-02T00:00:00Z'),
    onFailure: (error) => {
      throw error;
    },
  });
  return frameworks.get('default-scheduler') as Framework;
}

/**
 * Upstream looks a promised pod up in its queue, and the queue of the recordings is empty: it knows no more than the pod's
 * name and uid, so that the pod asks for nothing and has priority 0.
 */
function nominatedOn(node: string, { nominated = [] }: PreemptCase): PodInfo[] {
  const promised = nominated.filter(({ status }) => status?.nominatedNodeName === node);
  return promised.map(({ metadata: { name, namespace, uid } = {} }) =>
    createPodInfo({ metadata: { name, namespace, uid } } as WirePod),
  );
}

function listersOf(recorded: PreemptCase): ClusterListers {
  const inNamespace = (objects: readonly SelectingObject[] | undefined) => (namespace: string) =>
    (objects ?? []).filter(({ metadata }) => metadata?.namespace === namespace);
  return {
    namespaceLabels: (name) => recorded.namespaces?.find(({ metadata }) => metadata?.name === name)?.metadata?.labels,
    services: inNamespace(recorded.services),
    replicationControllers: inNamespace(recorded.replicationControllers),
    replicaSets: inNamespace(recorded.replicaSets),
    statefulSets: inNamespace(recorded.statefulSets),
    podDisruptionBudgets: inNamespace(recorded.podDisruptionBudgets),
  };
}

function unused(): never {
  throw new Error('no plugin writes while it judges nodes');
}
