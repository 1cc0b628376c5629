import type { PluginFactory } from '../framework/handle.ts';
import { defaultBinder } from '../plugins/default-binder.ts';
import { imageLocality } from '../plugins/image-locality.ts';
import { nodeAffinity } from '../plugins/node-affinity.ts';
import { nodeName } from '../plugins/node-name.ts';
import { nodePorts } from '../plugins/node-ports.ts';
import { nodeUnschedulable } from '../plugins/node-unschedulable.ts';
import { createInterPodAffinity } from '../plugins/pod-affinity/inter-pod-affinity.ts';
import { prioritySort } from '../plugins/priority-sort.ts';
import { nodeResourcesBalancedAllocation } from '../plugins/resources/balanced-allocation.ts';
import { nodeResourcesFit } from '../plugins/resources/node-resources-fit.ts';
import { schedulingGates } from '../plugins/scheduling-gates.ts';
import { createPodTopologySpread } from '../plugins/spread/pod-topology-spread.ts';
import { taintToleration } from '../plugins/taint-toleration.ts';
import { dynamicResources, volumeBinding } from '../plugins/volumes/claims.ts';
import { volumeRestrictions } from '../plugins/volumes/volume-restrictions.ts';
import { DefaultPreemption } from '../preemption/default-preemption.ts';

/** What makes each plugin, by the plugin's name. */
export type PluginRegistry = Readonly<Record<string, PluginFactory>>;

/**
 * The plugins of this library: a new object, to which own ones may be added.
 *
 * @example
 * ```ts
 * import { inTreePlugins, type PluginRegistry } from 'pod-status-manager/scheduler';
 *
 * const registry: PluginRegistry = {
 *   ...inTreePlugins(),
 *   EvenNodes: () => ({ name: 'EvenNodes', score: (_state, _pod, node) => (Number(node.name.at(-1)) % 2 === 0 ? 100 : 0) }),
 * };
 * console.log(Object.keys(registry).length, 'NodeName' in registry); // 18 true
 * ```
 */
export function inTreePlugins(): Record<string, PluginFactory> {
  return {
    SchedulingGates: schedulingGates,
    PrioritySort: prioritySort,
    NodeUnschedulable: nodeUnschedulable,
    NodeName: nodeName,
    TaintToleration: taintToleration,
    NodeAffinity: nodeAffinity,
    NodePorts: nodePorts,
    NodeResourcesFit: nodeResourcesFit,
    VolumeRestrictions: volumeRestrictions,
    VolumeBinding: volumeBinding,
    DynamicResources: dynamicResources,
    PodTopologySpread: createPodTopologySpread,
    InterPodAffinity: createInterPodAffinity,
    DefaultPreemption: (args, handle) => new DefaultPreemption(args, handle),
    NodeResourcesBalancedAllocation: nodeResourcesBalancedAllocation,
    ImageLocality: imageLocality,
    DefaultBinder: defaultBinder,
  };
}
