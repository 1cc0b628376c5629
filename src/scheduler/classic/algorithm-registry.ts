import { types } from 'node:util';
import { invalidArgument } from '../../base/errors.ts';
import { requireText } from '../../base/options.ts';
import type { PluginHandle } from '../framework/plugin.ts';
import type { Predicate, Priority } from './plugins/own-algorithms.ts';
import type { PredicatePolicy, PriorityPolicy } from './policy.ts';
import { readPolicy } from './read-policy.ts';

/** Makes a predicate for one profile. The handle may be asked once the first pod is scheduled. */
export type PredicateFactory = (handle: PluginHandle) => Predicate;
/** Makes a priority for one profile. The handle may be asked once the first pod is scheduled. */
export type PriorityFactory = (handle: PluginHandle) => Priority;

/**
 * Your own predicates, priorities and algorithm providers, for the policies that name them. The built-in ones are always there
 * and cannot be replaced. Each method returns the registry, and throws ERR_INVALID_ARGUMENT for a name that is taken.
 *
 * @example
 * ```ts
 * import { AlgorithmRegistry } from 'pod-status-manager/scheduler';
 *
 * const registry = new AlgorithmRegistry()
 *   .registerPredicate('NotOnMondays', () => new Date().getDay() !== 1 || 'it is Monday')
 *   .registerPriority('FewPods', (_pod, node) => Math.max(0, 100 - node.pods.length))
 *   .registerProvider('Mine', {
 *     predicates: [{ name: 'PodFitsResources' }, { name: 'NotOnMondays' }],
 *     priorities: [{ name: 'FewPods', weight: 1 }],
 *   });
 * console.log(registry.provider('Mine')?.priorities.length); // 1
 * ```
 */
export class AlgorithmRegistry {
  readonly #predicates = new Map<string, PredicateFactory>();
  readonly #priorities = new Map<string, PriorityFactory>();
  readonly #providers = new Map(builtInProviders);

  /** Refuses an async function: a cycle does not wait. */
  registerPredicate(name: string, predicate: Predicate): this {
    requireSynchronous('predicate', predicate);
    return this.registerPredicateFactory(name, () => predicate);
  }

  /** For a predicate that needs the other nodes or the cluster's services: it gets a handle. */
  registerPredicateFactory(name: string, factory: PredicateFactory): this {
    requireFree(name, predicates.has(name) || this.#predicates.has(name));
    requireSynchronous('factory', factory);
    this.#predicates.set(name, factory);
    return this;
  }

  /** Refuses an async function: a cycle does not wait. */
  registerPriority(name: string, priority: Priority): this {
    requireSynchronous('priority', priority);
    return this.registerPriorityFactory(name, () => priority);
  }

  /** For a priority that needs the other nodes or the cluster's services: it gets a handle. */
  registerPriorityFactory(name: string, factory: PriorityFactory): this {
    requireFree(name, priorities.has(name) || name === equalPriority || this.#priorities.has(name));
    requireSynchronous('factory', factory);
    this.#priorities.set(name, factory);
    return this;
  }

  /** Throws ERR_INVALID_OPTION for a provider with lists that no policy file could have. */
  registerProvider(name: string, provider: AlgorithmProvider): this {
    requireFree(name, this.#providers.has(name));
    const { predicates: chosen, priorities: weighed } = readPolicy(provider);
    if (chosen === undefined) throw invalidArgument('provider.predicates', 'a list', chosen);
    if (weighed === undefined) throw invalidArgument('provider.priorities', 'a list', weighed);
    this.#providers.set(name, { predicates: chosen, priorities: weighed });
    return this;
  }

  /** `DefaultProvider`, `ClusterAutoscalerProvider`, or one of yours. */
  provider(name: string): AlgorithmProvider | undefined {
    return this.#providers.get(name);
  }

  /** The names that `provider()` knows, the built-in ones first. */
  get providerNames(): readonly string[] {
    return [...this.#providers.keys()];
  }

  /** What makes the registered predicate of this name; undefined where none is registered. */
  predicateFactory(name: string): PredicateFactory | undefined {
    return this.#predicates.get(name);
  }

  /** What makes the registered priority of this name; undefined where none is registered. */
  priorityFactory(name: string): PriorityFactory | undefined {
    return this.#priorities.get(name);
  }
}

function requireFree(name: string, isTaken: boolean): void {
  requireText('name', name);
  if (isTaken || aliases.has(name) || isPlugin(name)) throw invalidArgument('name', 'a name that is not taken', name);
}

function requireSynchronous(what: string, value: unknown): void {
  if (typeof value !== 'function' || types.isAsyncFunction(value))
    throw invalidArgument(what, 'a function that is not async', value);
}

function isPlugin(name: string): boolean {
  return [...priorities.values(), ...[...predicates.values()].flat()].includes(name);
}

// The names of pkg/scheduler/framework/plugins/legacy_registry.go, v1.22.17, and the plugins behind them; and older names, each where it stood
// in the order of v1.11 (C89).

/** The predicates by their names, in the order in which they run, each with its plugins. */
export const predicates: ReadonlyMap<string, readonly string[]> = new Map([
  ['CheckNodeCondition', ['CheckNodeCondition']],
  ['CheckNodeUnschedulable', ['NodeUnschedulable']],
  ['GeneralPredicates', ['NodeResourcesFit', 'NodeName', 'NodePorts', 'NodeAffinity']],
  ['HostName', ['NodeName']],
  ['PodFitsHostPorts', ['NodePorts']],
  ['MatchNodeSelector', ['NodeAffinity']],
  ['PodFitsResources', ['NodeResourcesFit']],
  ['NoDiskConflict', ['VolumeRestrictions']],
  ['PodToleratesNodeTaints', ['TaintToleration']],
  ['PodToleratesNodeNoExecuteTaints', ['PodToleratesNodeNoExecuteTaints']],
  ['CheckNodeLabelPresence', ['NodeLabel']],
  ['CheckServiceAffinity', ['ServiceAffinity']],
  ['MaxEBSVolumeCount', ['EBSLimits']],
  ['MaxGCEPDVolumeCount', ['GCEPDLimits']],
  ['MaxCSIVolumeCountPred', ['NodeVolumeLimits']],
  ['MaxAzureDiskVolumeCount', ['AzureDiskLimits']],
  ['MaxCinderVolumeCount', ['CinderLimits']],
  ['CheckVolumeBinding', ['VolumeBinding']],
  ['NoVolumeZoneConflict', ['VolumeZone']],
  ['NoVolumeNodeConflict', ['NoVolumeNodeConflict']],
  ['CheckNodeMemoryPressure', ['CheckNodeMemoryPressure']],
  ['CheckNodePIDPressure', ['CheckNodePIDPressure']],
  ['CheckNodeDiskPressure', ['CheckNodeDiskPressure']],
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
  ['ResourceLimitsPriority', 'ResourceLimitsPriority'],
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

const builtInProviders: ReadonlyMap<string, AlgorithmProvider> = new Map([
  ['DefaultProvider', defaultProvider],
  ['ClusterAutoscalerProvider', clusterAutoscalerProvider],
]);
