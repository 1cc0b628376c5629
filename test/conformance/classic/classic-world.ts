import type { WirePod } from '../../../src/api/json/types.ts';
import { SchedulerCache } from '../../../src/scheduler/cache/scheduler-cache.ts';
import { countingOf, podReadingOf } from '../../../src/scheduler/classic/pod-counting.ts';
import { policyProfile } from '../../../src/scheduler/classic/policy-profile.ts';
import { Framework } from '../../../src/scheduler/framework/framework.ts';
import { createPodInfo, type PodInfo } from '../../../src/scheduler/nodes/pod-info.ts';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.ts';
import { frameworkContext } from '../../support/framework-context.ts';
import { objectsOf } from '../scheduling/recorded-cluster.ts';
import type { ClassicCase } from './classic-case.ts';

/** What a user asks for who wants the classic scheduler as it was. */
const counting = 'v1.22';

/** The pod as such a scheduler reads it. */
export function classicPodInfo(pod: WirePod): PodInfo {
  return createPodInfo(pod, podReadingOf(counting));
}

/** The scheduler of one case. Throws ERR_INVALID_OPTION for a policy that is refused. */
export function frameworkOf(recorded: ClassicCase): Framework {
  const serviceSpreading = recorded.selectorSpread ? 'SelectorSpread' : 'PodTopologySpread';
  const profile = policyProfile(JSON.stringify(recorded.policy), { serviceSpreading, counting });
  const cache = new SchedulerCache({ clock: new FakeClock(), version: countingOf([profile]) });
  for (const node of recorded.nodes) cache.addNode(node);
  for (const pod of recorded.pods) cache.addPod(classicPodInfo(pod));
  const snapshot = cache.updateSnapshot();
  return new Framework(frameworkContext({ snapshot: () => snapshot, objects: objectsOf(recorded) }), profile);
}
