import { SchedulerCache } from '../../../src/scheduler/cache/scheduler-cache.ts';
import { policyProfile } from '../../../src/scheduler/classic/policy-profile.ts';
import { Framework } from '../../../src/scheduler/framework/framework.ts';
import { createPodInfo } from '../../../src/scheduler/nodes/pod-info.ts';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.ts';
import { clusterObjects } from '../../support/cluster-objects.ts';
import { frameworkContext } from '../../support/framework-context.ts';
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
  const { namespaces, services, replicationControllers, replicaSets, statefulSets } = recorded;
  const objects = clusterObjects({ namespaces, services, replicationControllers, replicaSets, statefulSets });
  return new Framework(frameworkContext({ snapshot: () => snapshot, objects }), profile);
}
