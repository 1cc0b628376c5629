import { SchedulerCache } from '../../../src/scheduler/cache/scheduler-cache.ts';
import { policyProfile } from '../../../src/scheduler/classic/policy-profile.ts';
import { Framework } from '../../../src/scheduler/framework/framework.ts';
import type { ClusterListers, SelectingObject } from '../../../src/scheduler/framework/plugin.ts';
import { createPodInfo } from '../../../src/scheduler/nodes/pod-info.ts';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.ts';
import { noSchedulerClient } from '../../support/no-scheduler-client.ts';
import { classicPodReading } from './classic-amounts.ts';
import type { ClassicCase } from './classic-case.ts';

/** The scheduler of one case. Throws ERR_INVALID_OPTION for a policy that is refused. */
export function frameworkOf(recorded: ClassicCase): Framework {
  const serviceSpreading = recorded.selectorSpread ? 'SelectorSpread' : 'PodTopologySpread';
  const profile = policyProfile(JSON.stringify(recorded.policy), { serviceSpreading });
  const cache = new SchedulerCache({ clock: new FakeClock(), version: 'v1.22' });
  for (const node of recorded.nodes) cache.addNode(node);
  for (const pod of recorded.pods) cache.addPod(createPodInfo(pod, classicPodReading));
  const snapshot = cache.updateSnapshot();
  return new Framework(
    {
      snapshot: () => snapshot,
      listers: listersOf(recorded),
      nominated: { onNode: () => [] },
      client: noSchedulerClient,
      isPreempting: () => false,
      random: () => 0,
      now: () => 0,
      onFailure: (error) => {
        throw error;
      },
    },
    profile,
  );
}

function listersOf(recorded: ClassicCase): ClusterListers {
  const inNamespace = (objects: readonly SelectingObject[] | undefined) => (namespace: string) =>
    (objects ?? []).filter(({ metadata }) => metadata?.namespace === namespace);
  return {
    namespaceLabels: (name) => recorded.namespaces?.find(({ metadata }) => metadata?.name === name)?.metadata?.labels,
    services: inNamespace(recorded.services),
    replicationControllers: inNamespace(recorded.replicationControllers),
    replicaSets: inNamespace(recorded.replicaSets),
    statefulSets: inNamespace(recorded.statefulSets),
    podDisruptionBudgets: () => [],
  };
}
