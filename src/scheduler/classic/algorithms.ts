// The names of pkg/scheduler/framework/plugins/legacy_registry.go, v1.22.17, and the plugins behind them.

/** The predicates by their names, in the order in which they run, each with its plugins. */
export const predicates: ReadonlyMap<string, readonly string[]> = new Map([
  ['CheckNodeUnschedulable', ['NodeUnschedulable']],
  ['GeneralPredicates', ['NodeResourcesFit', 'NodeName', 'NodePorts', 'NodeAffinity']],
  ['HostName', ['NodeName']],
  ['PodFitsHostPorts', ['NodePorts']],
  ['MatchNodeSelector', ['NodeAffinity']],
  ['PodFitsResources', ['NodeResourcesFit']],
  ['NoDiskConflict', ['VolumeRestrictions']],
  ['PodToleratesNodeTaints', ['TaintToleration']],
  ['CheckNodeLabelPresence', ['NodeLabel']],
  ['CheckServiceAffinity', ['ServiceAffinity']],
  ['MaxEBSVolumeCount', ['EBSLimits']],
  ['MaxGCEPDVolumeCount', ['GCEPDLimits']],
  ['MaxCSIVolumeCountPred', ['NodeVolumeLimits']],
  ['MaxAzureDiskVolumeCount', ['AzureDiskLimits']],
  ['MaxCinderVolumeCount', ['CinderLimits']],
  ['CheckVolumeBinding', ['VolumeBinding']],
  ['NoVolumeZoneConflict', ['VolumeZone']],
  ['EvenPodsSpread', ['PodTopologySpread']],
  ['MatchInterPodAffinity', ['InterPodAffinity']],
]);

/** The priorities by their names, each with its plugin; `SelectorSpreadPriority` has one of two. */
export const priorities: ReadonlyMap<string, string> = new Map([
  ['BalancedResourceAllocation', 'NodeResourcesBalancedAllocation'],
  ['EvenPodsSpreadPriority', 'PodTopologySpread'],
  ['ImageLocalityPriority', 'ImageLocality'],
  ['InterPodAffinityPriority', 'InterPodAffinity'],
  ['LeastRequestedPriority', 'NodeResourcesLeastAllocated'],
  ['MostRequestedPriority', 'NodeResourcesMostAllocated'],
  ['NodeAffinityPriority', 'NodeAffinity'],
  ['NodeLabel', 'NodeLabel'],
  ['NodePreferAvoidPodsPriority', 'NodePreferAvoidPods'],
  ['RequestedToCapacityRatio', 'RequestedToCapacityRatio'],
  ['SelectorSpreadPriority', 'SelectorSpread'],
  ['ServiceAffinity', 'ServiceAffinity'],
  ['TaintTolerationPriority', 'TaintToleration'],
]);

/** Older names of a predicate or a priority. */
export const aliases: ReadonlyMap<string, string> = new Map([
  ['PodFitsPorts', 'PodFitsHostPorts'],
  ['ServiceSpreadingPriority', 'SelectorSpreadPriority'],
]);

/** What only an entry with an argument stands for: the name in the file is free then. */
export const onlyWithArgument: ReadonlySet<string> = new Set([
  'CheckNodeLabelPresence',
  'CheckServiceAffinity',
  'NodeLabel',
  'RequestedToCapacityRatio',
  'ServiceAffinity',
]);

/** Every node has the same score, so no plugin is needed. */
export const equalPriority = 'EqualPriority';

/** Predicates that run whatever a policy says. */
export const mandatoryPredicates: readonly string[] = ['CheckNodeUnschedulable', 'PodToleratesNodeTaints'];
