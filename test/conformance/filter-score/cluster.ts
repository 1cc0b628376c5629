import { SchedulerCache } from '../../../src/scheduler/cache/scheduler-cache.ts';
import type { Framework, FrameworkContext } from '../../../src/scheduler/framework/framework.ts';
import { createPodInfo } from '../../../src/scheduler/nodes/pod-info.ts';
import { createFrameworks } from '../../../src/scheduler/profile/profile-plugins.ts';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.ts';
import { frameworkContext } from '../../support/framework-context.ts';
import { objectsOf, promisedPods, type RecordedCluster } from '../scheduling/recorded-cluster.ts';
import type { FilterScoreCase } from './filter-score-case.ts';

/** The scheduler of one case: a cache with its nodes and pods, and the profile with its arguments. */
export function frameworkOf(
  recorded: RecordedCluster & Pick<FilterScoreCase, 'pluginConfig'>,
  more: Partial<FrameworkContext> = {},
): Framework {
  const { pluginConfig } = recorded;
  const frameworks = createFrameworks({ ...contextOf(recorded), ...more }, [pluginConfig === undefined ? {} : { pluginConfig }]);
  return frameworks.get('default-scheduler') as Framework;
}

function contextOf(recorded: RecordedCluster): FrameworkContext {
  const clock = new FakeClock();
  const cache = new SchedulerCache({ clock });
  for (const node of recorded.nodes) cache.addNode(node);
  for (const pod of recorded.pods ?? []) cache.addPod(createPodInfo(pod));
  const snapshot = cache.updateSnapshot();
  return frameworkContext({
    snapshot: () => snapshot,
    objects: objectsOf(recorded),
    nominated: { onNode: (name) => promisedPods(name, recorded) },
    clock,
  });
}
