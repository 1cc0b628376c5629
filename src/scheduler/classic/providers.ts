import type { PredicatePolicy, PriorityPolicy } from './policy.ts';

/** A named choice of predicates and priorities. */
export interface AlgorithmProvider {
  /** Which nodes a pod may go to. */
  readonly predicates: readonly PredicatePolicy[];
  /** Which of those nodes are better, and how much each rule counts. */
  readonly priorities: readonly PriorityPolicy[];
}

const defaultPredicates: readonly PredicatePolicy[] = [
  'NoVolumeZoneConflict',
  'MaxEBSVolumeCount',
  'MaxGCEPDVolumeCount',
  'MaxAzureDiskVolumeCount',
  'MaxCSIVolumeCountPred',
  'MatchInterPodAffinity',
  'NoDiskConflict',
  'GeneralPredicates',
  'PodToleratesNodeTaints',
  'CheckVolumeBinding',
  'CheckNodeUnschedulable',
  'EvenPodsSpread',
].map((name) => ({ name }));

const defaultPriorities: readonly PriorityPolicy[] = [
  { name: 'SelectorSpreadPriority', weight: 1 },
  { name: 'InterPodAffinityPriority', weight: 1 },
  { name: 'LeastRequestedPriority', weight: 1 },
  { name: 'BalancedResourceAllocation', weight: 1 },
  { name: 'NodePreferAvoidPodsPriority', weight: 10_000 },
  { name: 'NodeAffinityPriority', weight: 1 },
  { name: 'TaintTolerationPriority', weight: 1 },
  { name: 'ImageLocalityPriority', weight: 1 },
  { name: 'EvenPodsSpreadPriority', weight: 2 },
];

/** What a policy means that leaves predicates or priorities out. */
export const defaultProvider: AlgorithmProvider = { predicates: defaultPredicates, priorities: defaultPriorities };

/** As the default, but nodes are filled up, so that others can be removed from the cluster. */
const clusterAutoscalerProvider: AlgorithmProvider = {
  predicates: defaultPredicates,
  priorities: defaultPriorities.map((each) =>
    each.name === 'LeastRequestedPriority' ? { ...each, name: 'MostRequestedPriority' } : each,
  ),
};

export const builtInProviders: ReadonlyMap<string, AlgorithmProvider> = new Map([
  ['DefaultProvider', defaultProvider],
  ['ClusterAutoscalerProvider', clusterAutoscalerProvider],
]);
