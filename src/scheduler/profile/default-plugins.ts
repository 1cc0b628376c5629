// The plugins of pkg/scheduler/apis/config/v1 getDefaultPlugins, v1.36.3, in their order.
import type { EnabledPlugin } from './profile-options.ts';

/** The plugins of a profile that names none. */
export const defaultPlugins: readonly EnabledPlugin[] = [
  { name: 'SchedulingGates' },
  { name: 'PrioritySort' },
  { name: 'NodeUnschedulable' },
  { name: 'NodeName' },
  { name: 'TaintToleration', weight: 3 },
  { name: 'NodeAffinity', weight: 2 },
  { name: 'NodePorts' },
  { name: 'NodeResourcesFit', weight: 1 },
  { name: 'VolumeRestrictions' },
  { name: 'VolumeBinding' },
  { name: 'PodTopologySpread', weight: 2 },
  { name: 'InterPodAffinity', weight: 2 },
  { name: 'DynamicResources' },
  { name: 'DefaultPreemption' },
  { name: 'NodeResourcesBalancedAllocation', weight: 1 },
  { name: 'ImageLocality', weight: 1 },
  { name: 'DefaultBinder' },
];

/**
 * Default plugins of kube-scheduler that are not here. A profile may name them: without claims of volumes, which VolumeBinding refuses, the
 * first two have nothing to do, and the third has nothing to do for a node that declares no features.
 */
export const absentDefaults: readonly string[] = ['NodeVolumeLimits', 'VolumeZone', 'NodeDeclaredFeatures'];

/** Plugins of kube-scheduler that are off there by default and are not here. A profile may turn them off. */
export const absentPlugins: readonly string[] = [...absentDefaults, 'GangScheduling'];
