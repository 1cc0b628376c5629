import type { Framework } from '../../../src/scheduler/framework/framework.ts';
import { createPodInfo } from '../../../src/scheduler/nodes/pod-info.ts';
import { createFrameworks } from '../../../src/scheduler/profile/profile-plugins.ts';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.ts';
import { frameworkContext } from '../../support/framework-context.ts';
import { createNodeInfo, nodeSnapshotOf } from '../../support/node-snapshots.ts';
import { objectsOf, promisedPods } from '../scheduling/recorded-cluster.ts';
import type { PreemptCase } from './preempt-case.ts';

/** The scheduler of one case, with its default plugins. */
export function frameworkOf(recorded: PreemptCase): Framework {
  const pods = (recorded.pods ?? []).map((pod) => createPodInfo(pod));
  const snapshot = nodeSnapshotOf(
    recorded.nodes.map((node) =>
      createNodeInfo(
        node,
        pods.filter(({ pod }) => pod.spec?.nodeName === node.metadata?.name),
      ),
    ),
  );
  const context = frameworkContext({
    snapshot: () => snapshot,
    objects: objectsOf(recorded),
    nominated: { onNode: (name) => promisedPods(name, recorded) },
    clock: new FakeClock({ start: Date.parse('2000-01-02T00:00:00Z') }),
  });
  const frameworks = createFrameworks(context);
  return frameworks.get('default-scheduler') as Framework;
}
