// Behaviour of createFromPolicy and the legacy registry, pkg/scheduler/factory.go, v1.22.17.
import { invalidOption } from '../../base/errors.ts';
import {
  type AlgorithmRegistry,
  aliases,
  defaultProvider,
  equalPriority,
  mandatoryPredicates,
  onlyWithArgument,
  predicates,
  priorities,
} from './algorithm-registry.ts';
import type { NodeLabelArgs } from './plugins/classic-rule-plugins.ts';
import type { RatioArgs } from './plugins/resource-scores.ts';
import type { ServiceAffinityArgs } from './plugins/services.ts';
import type { Policy, PredicatePolicy, PriorityPolicy } from './policy.ts';

/** The plugin that `ServiceSpreadingPriority` is. */
export type ServiceSpreading = 'SelectorSpread' | 'PodTopologySpread';

/** Which plugins a policy asks for, and with what. */
export interface PolicyPlan {
  /** In the order in which they run. */
  readonly filters: readonly string[];
  /** The plugins that score, and their weights. */
  readonly weights: ReadonlyMap<string, number>;
  readonly arguments: PlannedArguments;
  /** True where pods without spread constraints are spread by the system's defaults. */
  readonly spreadsByDefault: boolean;
  readonly checkAllFilters: boolean;
  /** What extenders keep the accounts of. */
  readonly ignoredResources?: ReadonlySet<string>;
}

/**
 * Works out the plugins of a policy that was read. Throws ERR_INVALID_OPTION for a predicate or a priority that is neither built in
 * nor registered, and for an argument where none belongs.
 */
export function planOf(policy: Policy, registry: AlgorithmRegistry, spreading: ServiceSpreading): PolicyPlan {
  const planned = new PlannedArguments(policy.hardPodAffinitySymmetricWeight);
  const chosen = new Set(mandatoryPredicates);
  for (const [index, entry] of (policy.predicates ?? defaultProvider.predicates).entries()) {
    chosen.add(predicateName(`policy.predicates[${index}]`, entry, registry, planned));
  }
  const weights = new Map<string, number>();
  for (const [index, entry] of (policy.priorities ?? defaultProvider.priorities).entries()) {
    const name = priorityName(`policy.priorities[${index}]`, entry, registry, planned);
    if (name !== equalPriority) weights.set(name, entry.weight);
  }
  return {
    filters: filtersOf(chosen),
    weights: scorersOf(weights, planned, spreading),
    arguments: planned,
    spreadsByDefault: spreading === 'PodTopologySpread' && weights.has('SelectorSpreadPriority'),
    checkAllFilters: policy.alwaysCheckAllPredicates ?? false,
  };
}

/** The built-in ones in their fixed order, then one's own by name. */
function filtersOf(chosen: ReadonlySet<string>): string[] {
  const builtIn = [...predicates].flatMap(([name, plugins]) => (chosen.has(name) ? plugins : []));
  const own = [...chosen].filter((name) => !predicates.has(name)).sort();
  return [...new Set([...builtIn, ...own])];
}

/** A plugin of several priorities has the weight of the first one by name. */
function scorersOf(chosen: ReadonlyMap<string, number>, planned: PlannedArguments, spreading: ServiceSpreading) {
  const weights = new Map<string, number>();
  for (const [name, weight] of [...chosen].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const plugin = name === 'SelectorSpreadPriority' ? spreading : (priorities.get(name) ?? name);
    if (!weights.has(plugin)) weights.set(plugin, weight * planned.labelsScoredBy(plugin));
  }
  for (const [plugin, weight] of weights) {
    if (weight > 2 ** 31 - 1) throw invalidOption(`policy.priorities: the weight of ${plugin}`, 'at most 2147483647', weight);
  }
  return weights;
}

function predicateName(
  path: string,
  { name, argument }: PredicatePolicy,
  registry: AlgorithmRegistry,
  planned: PlannedArguments,
): string {
  const known = aliases.get(name) ?? name;
  const isBuiltIn = predicates.has(known) && !onlyWithArgument.has(known);
  const isKnown = isBuiltIn || registry.predicateFactory(known) !== undefined;
  if (argument !== undefined && isKnown) throw invalidOption(`${path}.argument`, `absent: ${name} takes none`, argument);
  if (argument !== undefined) return planned.addPredicate(argument);
  if (isKnown) return known;
  throw invalidOption(`${path}.name`, 'the name of a predicate that is built in or registered (or one with an argument)', name);
}

function priorityName(
  path: string,
  { name, argument }: PriorityPolicy,
  registry: AlgorithmRegistry,
  planned: PlannedArguments,
): string {
  const known = aliases.get(name) ?? name;
  const isBuiltIn = name === equalPriority || (priorities.has(known) && !onlyWithArgument.has(known));
  const isKnown = isBuiltIn || registry.priorityFactory(known) !== undefined;
  if (argument !== undefined && isKnown) throw invalidOption(`${path}.argument`, `absent: ${name} takes none`, argument);
  if (argument !== undefined) return planned.addPriority(argument);
  if (isKnown) return known;
  throw invalidOption(`${path}.name`, 'the name of a priority that is built in or registered (or one with an argument)', name);
}

/** What the entries of a policy give to plugins: all entries of one sort go to one plugin. */
class PlannedArguments {
  /** How much required affinity of running pods counts. */
  readonly hardPodAffinityWeight: number;
  readonly #present: string[] = [];
  readonly #absent: string[] = [];
  readonly #preferredPresent: string[] = [];
  readonly #preferredAbsent: string[] = [];
  readonly #affinity: string[] = [];
  readonly #antiAffinity: string[] = [];
  #ratio: RatioArgs = { shape: [], resources: [] };

  constructor(hardPodAffinityWeight: number | undefined) {
    // 0 is Go's absent value: upstream takes its default for it
    this.hardPodAffinityWeight = hardPodAffinityWeight || 1;
  }

  /** Returns the name of the predicate that the argument belongs to. */
  addPredicate(argument: NonNullable<PredicatePolicy['argument']>): string {
    if ('serviceAffinity' in argument) {
      this.#affinity.push(...argument.serviceAffinity.labels);
      return 'CheckServiceAffinity';
    }
    const { labels, presence } = argument.labelsPresence;
    (presence ? this.#present : this.#absent).push(...labels);
    return 'CheckNodeLabelPresence';
  }

  /** Returns the name of the priority that the argument belongs to. */
  addPriority(argument: NonNullable<PriorityPolicy['argument']>): string {
    if ('serviceAntiAffinity' in argument) {
      this.#antiAffinity.push(argument.serviceAntiAffinity.label);
      return 'ServiceAffinity';
    }
    if ('labelPreference' in argument) {
      const { label, presence } = argument.labelPreference;
      (presence ? this.#preferredPresent : this.#preferredAbsent).push(label);
      return 'NodeLabel';
    }
    const { shape, resources = [] } = argument.requestedToCapacityRatioArguments;
    this.#ratio = { shape, resources };
    return 'RequestedToCapacityRatio';
  }

  /** By how many labels the plugin scores, and so how often its weight counts; 1 for a plugin that has none. */
  labelsScoredBy(plugin: string): number {
    if (plugin === 'NodeLabel') return this.#preferredPresent.length + this.#preferredAbsent.length;
    return plugin === 'ServiceAffinity' ? this.#antiAffinity.length : 1;
  }

  get nodeLabel(): NodeLabelArgs {
    return {
      present: this.#present,
      absent: this.#absent,
      preferredPresent: this.#preferredPresent,
      preferredAbsent: this.#preferredAbsent,
    };
  }

  get serviceAffinity(): ServiceAffinityArgs {
    return { affinityLabels: this.#affinity, antiAffinityLabels: this.#antiAffinity };
  }

  get ratio(): RatioArgs {
    return this.#ratio;
  }
}
