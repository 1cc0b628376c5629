import type { WireNode, WirePod } from '../../../../src/api/json/types.ts';
import type { ProfileMaker } from '../../../../src/scheduler/classic/policy-profile.ts';
import { SchedulingAlgorithm } from '../../../../src/scheduler/cycle/algorithm.ts';
import { Framework } from '../../../../src/scheduler/framework/framework.ts';
import { createPodInfo } from '../../../../src/scheduler/nodes/pod-info.ts';
import { clusterObjects, type GivenObjects } from '../../../support/cluster-objects.ts';
import { frameworkContext } from '../../../support/framework-context.ts';
import { createNodeInfo, nodeSnapshotOf } from '../../../support/node-snapshots.ts';
import { type BareParts, barePod } from '../../../support/pods.ts';

export const nodeNamed = (name: string, labels: Record<string, string> = {}, more: Partial<WireNode> = {}): WireNode => ({
  metadata: { name, labels },
  status: { allocatable: { cpu: '2', memory: '4Gi', pods: '10' } },
  ...more,
});

/** A pod of namespace d, on a node where one is given. */
export const podNamed = (name: string, spec: BareParts['spec'] = {}, labels = {}): WirePod =>
  barePod({
    metadata: { name, namespace: 'd', uid: `u-${name}`, labels },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  });

interface World {
  readonly nodes: readonly WireNode[];
  readonly pods?: readonly WirePod[];
  readonly services?: readonly object[];
  /** Other objects, by the name of their resource. */
  readonly objects?: GivenObjects;
}

/** A profile at work on these nodes. */
export function frameworkOf(profile: ProfileMaker, { nodes, pods = [], services = [], objects = {} }: World): Framework {
  const infos = pods.map((pod) => createPodInfo(pod));
  const on = (name: string | undefined) => infos.filter(({ pod }) => pod.spec?.nodeName === name);
  const snapshot = nodeSnapshotOf(nodes.map((node) => createNodeInfo(node, on(node.metadata?.name))));
  return new Framework(
    frameworkContext({ snapshot: () => snapshot, objects: clusterObjects({ services, ...objects }) }),
    profile,
  );
}

/** The node that the pod would go to. Throws FitError and PluginError. */
export function placed(profile: ProfileMaker, world: World, pod: WirePod): string {
  return new SchedulingAlgorithm().schedulePod(frameworkOf(profile, world), createPodInfo(pod)).nodeName;
}
