import type { PluginHandle } from '../framework/handle.ts';
import type { Plugin } from '../framework/plugin.ts';
import { nodeName } from '../plugins/node-name.ts';
import { nodePorts } from '../plugins/node-ports.ts';
import { nodeUnschedulable } from '../plugins/node-unschedulable.ts';
import { createInterPodAffinity } from '../plugins/pod-affinity/inter-pod-affinity.ts';
import { volumeRestrictions } from '../plugins/volumes/volume-restrictions.ts';
import { classicImageLocality } from './plugins/image-locality.ts';
import { classicNodeAffinity } from './plugins/node-affinity.ts';
import { nodeLabel } from './plugins/node-label.ts';
import { nodePreferAvoidPods } from './plugins/node-prefer-avoid-pods.ts';
import { classicNodeResourcesFit } from './plugins/node-resources-fit.ts';
import { classicPodTopologySpread } from './plugins/pod-topology-spread.ts';
import { refuseClaims } from './plugins/refuse-claims.ts';
import { balancedAllocationScore, leastAllocatedScore, mostAllocatedScore, ratioScore } from './plugins/resource-scores.ts';
import { selectorSpread } from './plugins/selector-spread.ts';
import { serviceAffinity } from './plugins/service-affinity.ts';
import { classicTaintToleration } from './plugins/taint-toleration.ts';
import { volumeLimit } from './plugins/volume-limits.ts';
import type { PolicyPlan } from './policy-plan.ts';

/** Takes the plan apart; those without arguments take nothing of it. */
type Maker = (plan: PolicyPlan, handle: PluginHandle) => Plugin;

/** How each plugin of a policy is made, by its name. */
export const classicPlugins: ReadonlyMap<string, Maker> = new Map<string, Maker>([
  ['NodeUnschedulable', () => nodeUnschedulable()],
  ['NodeResourcesFit', () => classicNodeResourcesFit()],
  ['NodeName', () => nodeName()],
  ['NodePorts', () => nodePorts()],
  ['NodeAffinity', () => classicNodeAffinity()],
  ['VolumeRestrictions', () => volumeRestrictions()],
  ['TaintToleration', () => classicTaintToleration()],
  ['NodeLabel', (plan) => nodeLabel(plan.arguments.nodeLabel)],
  ['ServiceAffinity', (plan, handle) => serviceAffinity(plan.arguments.serviceAffinity, handle)],
  ['EBSLimits', () => volumeLimit('EBSLimits')],
  ['GCEPDLimits', () => volumeLimit('GCEPDLimits')],
  ['AzureDiskLimits', () => volumeLimit('AzureDiskLimits')],
  ['CinderLimits', () => volumeLimit('CinderLimits')],
  ['NodeVolumeLimits', () => refuseClaims('NodeVolumeLimits')],
  ['VolumeBinding', () => refuseClaims('VolumeBinding')],
  ['VolumeZone', () => refuseClaims('VolumeZone')],
  ['PodTopologySpread', ({ spreadsByDefault }, handle) => classicPodTopologySpread(spreadsByDefault, handle)],
  [
    'InterPodAffinity',
    ({ arguments: { hardPodAffinityWeight } }, handle) => createInterPodAffinity({ hardPodAffinityWeight }, handle),
  ],
  ['NodeResourcesBalancedAllocation', () => balancedAllocationScore()],
  ['NodeResourcesLeastAllocated', () => leastAllocatedScore()],
  ['NodeResourcesMostAllocated', () => mostAllocatedScore()],
  ['RequestedToCapacityRatio', (plan) => ratioScore(plan.arguments.ratio)],
  ['ImageLocality', (_plan, handle) => classicImageLocality(handle)],
  ['NodePreferAvoidPods', () => nodePreferAvoidPods()],
  ['SelectorSpread', (_plan, handle) => selectorSpread(handle)],
]);
