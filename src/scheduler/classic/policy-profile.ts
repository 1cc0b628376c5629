import { invalidArgument, invalidOption } from '../../base/errors.ts';
import { oneOfOption, requireKnownOptions } from '../../base/options.ts';
import { extendersOption, ignoredResourcesOf } from '../extenders/extender-options.ts';
import type { Plugin, PluginHandle, ProfilePlugins } from '../framework/plugin.ts';
import {
  defaultBinder,
  nodeName,
  nodePorts,
  nodeUnschedulable,
  prioritySort,
  schedulingGates,
} from '../plugins/one-rule-plugins.ts';
import { createInterPodAffinity } from '../plugins/pod-affinity/inter-pod-affinity.ts';
import { refusedClaims } from '../plugins/refused-claims.ts';
import { diskRestrictions } from '../plugins/volumes/volume-restrictions.ts';
import { DefaultPreemption } from '../preemption/default-preemption.ts';
import { AlgorithmRegistry, equalPriority } from './algorithm-registry.ts';
import { classicCsiLimits, classicVolumeBinding, classicVolumeZone } from './plugins/claimed-volumes.ts';
import {
  classicImageLocality,
  classicNodeAffinity,
  classicPodTopologySpread,
  classicTaintToleration,
  nodeLabel,
  nodePreferAvoidPods,
} from './plugins/classic-rule-plugins.ts';
import {
  checkedConditions,
  nodeDiskPressure,
  nodeMemoryPressure,
  nodePidPressure,
  noExecuteTaints,
  resourceLimits,
  volumeNodeConflict,
} from './plugins/older-rules.ts';
import { predicatePlugin, priorityPlugin } from './plugins/own-algorithms.ts';
import {
  balancedAllocationScore,
  classicNodeResourcesFit,
  leastAllocatedScore,
  mostAllocatedScore,
  ratioScore,
} from './plugins/resource-scores.ts';
import { selectorSpread, serviceAffinity } from './plugins/services.ts';
import { volumeLimit } from './plugins/volume-limits.ts';
import { type PodCounting, podCountings } from './pod-counting.ts';
import type { Policy } from './policy.ts';
import { extendersOfPolicy } from './policy-extenders.ts';
import { type PolicyPlan, planOf, type ServiceSpreading } from './policy-plan.ts';
import { readPolicy } from './read-policy.ts';

/** For which pods a policy stands, and what of your own it may name. None is needed. */
export interface PolicyProfileOptions {
  /** Pods with this `spec.schedulerName` are scheduled. Default: `default-scheduler`. */
  readonly schedulerName?: string;
  /** Your own predicates and priorities. Default: only the built-in ones. */
  readonly registry?: AlgorithmRegistry;
  /**
   * What `ServiceSpreadingPriority` (`SelectorSpreadPriority`) is. `SelectorSpread`, the default: a third of the score for the
   * node's pods, two thirds for the zone's. `PodTopologySpread`: the system's default spread constraints, as Kubernetes from
   * v1.20 to v1.22 has it.
   */
  readonly serviceSpreading?: ServiceSpreading;
  /**
   * How the scheduler counts pods and nodes for this policy. `v1.36`, the default: as today's nodes count themselves. `v1.22`: as the classic
   * scheduler did; a node may then refuse a pod that was placed by less, such as one with sidecars. All profiles of a scheduler must count alike.
   */
  readonly counting?: PodCounting;
}

/** Makes a profile's plugins. */
export interface ProfileMaker {
  /** `ignoredResources`: those that an extender keeps the accounts of; no plugin is to look at them. */
  (handle: PluginHandle, ignoredResources?: readonly string[]): ProfilePlugins;
  /** How the profile wants pods and nodes counted. Default: `v1.36`. */
  readonly counting?: PodCounting;
}

/**
 * The profile that a policy file describes: its text, or what {@link readPolicy} made of it. `CheckNodeUnschedulable` and
 * `PodToleratesNodeTaints` always run. A pod that fits nowhere may end others of lower
 * priority, and one with claims of devices is refused, as with any profile. Claims of volumes are looked at only by the predicates that do
 * so, as in Kubernetes: without `CheckVolumeBinding` a pod is placed wherever its volumes are, and a claim that waits for its pod stays unbound.
 *
 * Throws ERR_INVALID_OPTION for what {@link readPolicy} refuses, and for a predicate or a priority that is neither built in nor
 * registered.
 *
 * @example
 * ```ts
 * import { AlgorithmRegistry, policyProfile } from 'pod-status-manager/scheduler';
 *
 * const registry = new AlgorithmRegistry().registerPriority('FewPods', (_pod, node) => Math.max(0, 100 - node.pods.length));
 * const policy = {
 *   kind: 'Policy',
 *   apiVersion: 'v1',
 *   predicates: [{ name: 'PodFitsResources' }],
 *   priorities: [{ name: 'FewPods', weight: 1 }],
 * } as const;
 * const profile = policyProfile(policy, { registry });
 * console.log(typeof profile); // function
 * ```
 */
export function policyProfile(policy: string | Policy, options: PolicyProfileOptions = {}): ProfileMaker {
  requireKnownOptions('options', options, ['schedulerName', 'registry', 'serviceSpreading', 'counting']);
  const { schedulerName = 'default-scheduler', registry = new AlgorithmRegistry() } = options;
  const { serviceSpreading = 'SelectorSpread', counting = 'v1.36' } = options;
  if (typeof schedulerName !== 'string' || schedulerName === '')
    throw invalidOption('options.schedulerName', 'a non-empty text', schedulerName);
  if (!(registry instanceof AlgorithmRegistry)) throw invalidOption('options.registry', 'an AlgorithmRegistry', registry);
  oneOfOption('options.serviceSpreading', serviceSpreading, ['SelectorSpread', 'PodTopologySpread']);
  oneOfOption('options.counting', counting, podCountings);
  const read = readPolicy(policy);
  const plan = planOf(read, registry, serviceSpreading);
  const extenders = extendersOfPolicy(read);
  const own = ignoredResourcesOf(extendersOption('policy.extenders', extenders));
  const make = (handle: PluginHandle, ignored: readonly string[] = []): ProfilePlugins => ({
    ...profileOf(schedulerName, { ...plan, ignoredResources: new Set([...own, ...ignored]) }, registry, handle),
    extenders,
  });
  return Object.assign(make, { counting });
}

/**
 * The profile of an algorithm provider: `DefaultProvider`, `ClusterAutoscalerProvider`, or one that is registered. Throws
 * ERR_INVALID_ARGUMENT for any other name, and ERR_INVALID_OPTION as {@link policyProfile} does.
 *
 * @example
 * ```ts
 * import { providerProfile } from 'pod-status-manager/scheduler';
 *
 * console.log(typeof providerProfile('DefaultProvider')); // function
 * ```
 */
export function providerProfile(name: string, options: PolicyProfileOptions = {}): ProfileMaker {
  const registry = options.registry ?? new AlgorithmRegistry();
  const provider = registry.provider(name);
  if (provider === undefined) throw invalidArgument('name', `one of ${registry.providerNames.join(', ')}`, name);
  return policyProfile(provider, options);
}

function profileOf(schedulerName: string, plan: PolicyPlan, registry: AlgorithmRegistry, handle: PluginHandle): ProfilePlugins {
  const builtIn = new Map<string, Plugin>();
  const make = (name: string): Plugin | undefined => {
    const plugin = builtIn.get(name) ?? classicPlugins.get(name)?.(plan, handle);
    if (plugin !== undefined) builtIn.set(name, plugin);
    return plugin;
  };
  const filters = plan.filters.map((name) => make(name) ?? ownFilter(name, registry, handle));
  const scorers = [...plan.weights.keys()].map((name) => make(name) ?? ownScorer(name, registry, handle));
  if (scorers.length === 0) scorers.push(priorityPlugin(equalPriority, () => 1));
  // whatever the policy says, no pod is placed as if its claims of devices did not matter
  const refusals = [refusedClaims()];
  return {
    schedulerName,
    // a predicate's events count, also where a priority has its name: the last one of a name is asked
    plugins: [...commonPlugins(handle), ...refusals, ...new Set([...scorers, ...filters])],
    points: { preFilter: [...refusals, ...filters], filter: filters, preScore: scorers, score: scorers },
    weights: plan.weights,
    checkAllFilters: plan.checkAllFilters,
  };
}

/** What every profile has beside predicates and priorities. */
function commonPlugins(handle: PluginHandle): Plugin[] {
  return [schedulingGates(), prioritySort(), new DefaultPreemption({}, handle), defaultBinder(undefined, handle)];
}

function ownFilter(name: string, registry: AlgorithmRegistry, handle: PluginHandle): Plugin {
  const factory = registry.predicateFactory(name);
  if (factory === undefined) throw invalidOption('policy.predicates', 'names that are known', name);
  return predicatePlugin(name, factory(handle));
}

function ownScorer(name: string, registry: AlgorithmRegistry, handle: PluginHandle): Plugin {
  const factory = registry.priorityFactory(name);
  if (factory === undefined) throw invalidOption('policy.priorities', 'names that are known', name);
  return priorityPlugin(name, factory(handle));
}

/** Takes the plan apart; those without arguments take nothing of it. */
type Maker = (plan: PolicyPlan, handle: PluginHandle) => Plugin;

/** How each plugin of a policy is made, by its name. */
const classicPlugins: ReadonlyMap<string, Maker> = new Map<string, Maker>([
  ['NodeUnschedulable', () => nodeUnschedulable()],
  ['NodeResourcesFit', ({ ignoredResources }) => classicNodeResourcesFit(ignoredResources)],
  ['NodeName', () => nodeName()],
  ['NodePorts', () => nodePorts()],
  ['NodeAffinity', () => classicNodeAffinity()],
  ['VolumeRestrictions', () => diskRestrictions()],
  ['TaintToleration', () => classicTaintToleration()],
  ['NodeLabel', (plan) => nodeLabel(plan.arguments.nodeLabel)],
  ['ServiceAffinity', (plan, handle) => serviceAffinity(plan.arguments.serviceAffinity, handle)],
  ['EBSLimits', (_plan, handle) => volumeLimit('EBSLimits', handle)],
  ['GCEPDLimits', (_plan, handle) => volumeLimit('GCEPDLimits', handle)],
  ['AzureDiskLimits', (_plan, handle) => volumeLimit('AzureDiskLimits', handle)],
  ['CinderLimits', (_plan, handle) => volumeLimit('CinderLimits', handle)],
  ['NodeVolumeLimits', (_plan, handle) => classicCsiLimits(handle)],
  ['VolumeBinding', (_plan, handle) => classicVolumeBinding(handle)],
  ['VolumeZone', (_plan, handle) => classicVolumeZone(handle)],
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
  ['CheckNodeCondition', () => checkedConditions()],
  ['CheckNodeMemoryPressure', () => nodeMemoryPressure()],
  ['CheckNodeDiskPressure', () => nodeDiskPressure()],
  ['CheckNodePIDPressure', () => nodePidPressure()],
  ['PodToleratesNodeNoExecuteTaints', () => noExecuteTaints()],
  ['NoVolumeNodeConflict', (_plan, handle) => volumeNodeConflict(handle)],
  ['ResourceLimitsPriority', () => resourceLimits()],
]);
