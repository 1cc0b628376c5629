import type { PluginHandle, ProfilePlugins } from '../../../src/scheduler/framework/handle.ts';
import type { Plugin } from '../../../src/scheduler/framework/plugin.ts';
import { nodeAffinity } from '../../../src/scheduler/plugins/node-affinity.ts';
import { nodeName } from '../../../src/scheduler/plugins/node-name.ts';
import { nodePorts } from '../../../src/scheduler/plugins/node-ports.ts';
import { nodeUnschedulable } from '../../../src/scheduler/plugins/node-unschedulable.ts';
import { createInterPodAffinity } from '../../../src/scheduler/plugins/pod-affinity/inter-pod-affinity.ts';
import { prioritySort } from '../../../src/scheduler/plugins/priority-sort.ts';
import { nodeResourcesFit } from '../../../src/scheduler/plugins/resources/node-resources-fit.ts';
import { schedulingGates } from '../../../src/scheduler/plugins/scheduling-gates.ts';
import { createPodTopologySpread } from '../../../src/scheduler/plugins/spread/pod-topology-spread.ts';
import { taintToleration } from '../../../src/scheduler/plugins/taint-toleration.ts';

const nothing = (): readonly never[] => [];

/** All that hints ask for: no namespace, service or controller is known. */
const handle = {
  listers: {
    namespaceLabels: () => undefined,
    ...{ services: nothing, replicationControllers: nothing, replicaSets: nothing, statefulSets: nothing },
    podDisruptionBudgets: nothing,
  },
} as unknown as PluginHandle;

/** The plugins of the default profile that reject pods, sort the queue or gate pods. */
export function queueProfile(schedulerName: string): ProfilePlugins {
  const plugins: readonly Plugin[] = [
    ...[prioritySort(), schedulingGates(), nodeUnschedulable(), nodeName(), taintToleration(), nodeAffinity()],
    ...[nodePorts(), nodeResourcesFit(), createPodTopologySpread(undefined, handle), createInterPodAffinity(undefined, handle)],
  ];
  return { schedulerName, plugins, weights: new Map() };
}
