// Behaviour of pkg/scheduler/framework/plugins/noderesources, fit.go, v1.36.3.

import type { WireNode, WirePod } from '../../../api/json/types.ts';
import { isExtendedResource } from '../../../base/names.ts';
import type { JsonMembers } from '../../../client/transport/api-answer.ts';
import { withSignature } from '../../framework/placed-plugin.ts';
import type { ClusterEventWithHint, Plugin, PluginHandle, QueueingHint, Rejection } from '../../framework/plugin.ts';
import { type PodInfo, podAmounts } from '../../nodes/pod-info.ts';
import { type AllocatableAmounts, allocatableAmounts, type ResourceAmounts } from '../../nodes/resource.ts';
import { requestsText } from '../common.ts';
import {
  classResourcePrefix,
  delegatedKey,
  extendedResourceOf,
  type ResourceClasses,
  resourceClassesOf,
} from '../resource-classes.ts';
import { fitArgs, type ScoringStrategy } from './args.ts';
import { leastAllocated, mostAllocated, type ResourceScorer, requestedToCapacityRatio } from './strategies.ts';

/**
 * Rejects a node that has too little left of what the pod asks for, and scores how much the node would be used.
 *
 * Arguments: `ignoredResources` and `ignoredResourceGroups` name extended resources that are not looked at, by name and by
 * what stands before the `/`. `scoringStrategy` has a `type` (`LeastAllocated`, the default, spreads pods; `MostAllocated`
 * fills nodes up; `RequestedToCapacityRatio` follows the line of `requestedToCapacityRatio.shape`) and `resources`, by default
 * CPU and memory, each with a `weight` from 1 to 100. Throws ERR_INVALID_OPTION for other arguments.
 *
 * What DynamicResources gives as devices is looked at on those nodes alone that have some of it themselves.
 */
export function nodeResourcesFit(args?: unknown, handle?: Pick<PluginHandle, 'objects' | 'shared'>): Plugin {
  const { ignoredResources, ignoredResourceGroups, scoringStrategy } = fitArgs(args);
  const ignoresAny = ignoredResources.size > 0 || ignoredResourceGroups.size > 0;
  const ignored = ignoresAny ? { names: ignoredResources, groups: ignoredResourceGroups } : undefined;
  const score = scorerOf(scoringStrategy);
  const containersAlone = rememberedByObject(containersOf);
  const classes = handle && resourceClassesOf(handle);
  const plugin: Plugin = {
    name: 'NodeResourcesFit',
    eventsToRegister: () => fitEvents(classes),
    filter(state, { requests }, node) {
      const delegated = requests.scalar.size === 0 ? undefined : state.read(delegatedKey)?.names;
      return shortages(requests, node.allocatable, node.requested, node.pods.length, ignored, delegated);
    },
    // upstream's scores, unlike its filter, do not look at the resources of the pod as a whole
    score: (_state, pod, node) => score(pod.pod.spec?.resources === undefined ? pod : containersAlone(pod), node),
  };
  const isSigned = ({ pod, requests }: PodInfo): boolean =>
    pod.spec?.resources === undefined && (classes === undefined || !asksForAny(requests, classes));
  return withSignature(plugin, (pod) => (isSigned(pod) ? requestsText(pod) : undefined));
}

function scorerOf(strategy: ScoringStrategy): ResourceScorer {
  switch (strategy.type) {
    case 'LeastAllocated':
      return leastAllocated(strategy.resources);
    case 'MostAllocated':
      return mostAllocated(strategy.resources);
    case 'RequestedToCapacityRatio':
      return requestedToCapacityRatio(strategy.resources, strategy.shape);
  }
}

// Behaviour of pkg/scheduler/framework/plugins/noderesources, fit.go, v1.36.3.

/** Extended resources that are not looked at. */
export interface Ignored {
  readonly names: ReadonlySet<string>;
  /** What stands before the `/` of their names. */
  readonly groups: ReadonlySet<string>;
}

/** Resources that somebody else gives where a node has none of them. */
interface Names {
  has(name: string): boolean;
}

/** A pod may ask for thousands of resources, and each node would name them all. */
const mostReasons = 100;

/**
 * Undefined where a pod with these requests fits on a node that has `allocatable`, of which its `pods` pods ask for `requested`. The rejection names what is missing, the first 100 of
 * it. It is
 * `UnschedulableAndUnresolvable` where the pod asks for more of something than the whole node has.
 */
export function shortages(
  requests: ResourceAmounts,
  allocatable: AllocatableAmounts,
  requested: ResourceAmounts,
  pods: number,
  ignored?: Ignored,
  delegated?: Names,
): Rejection | undefined {
  let reasons: string[] | undefined;
  let unresolvable = false;
  if (pods + 1 > allocatable.pods) reasons = ['Too many pods'];
  if (requests.milliCPU > 0 && requests.milliCPU > allocatable.milliCPU - requested.milliCPU) {
    reasons = added(reasons, 'Insufficient cpu');
    unresolvable ||= requests.milliCPU > allocatable.milliCPU;
  }
  if (requests.memory > 0 && requests.memory > allocatable.memory - requested.memory) {
    reasons = added(reasons, 'Insufficient memory');
    unresolvable ||= requests.memory > allocatable.memory;
  }
  if (requests.ephemeralStorage > 0 && requests.ephemeralStorage > allocatable.ephemeralStorage - requested.ephemeralStorage) {
    reasons = added(reasons, 'Insufficient ephemeral-storage');
    unresolvable ||= requests.ephemeralStorage > allocatable.ephemeralStorage;
  }
  for (const [name, amount] of requests.scalar) {
    if (amount === 0 || (ignored !== undefined && isIgnored(name, ignored))) continue;
    const capacity = allocatable.scalar.get(name) ?? 0;
    if (amount <= capacity - (requested.scalar.get(name) ?? 0)) continue;
    if (capacity <= 0 && delegated?.has(name)) continue;
    const isFull = reasons !== undefined && reasons.length >= mostReasons;
    if (!isFull) reasons = added(reasons, `Insufficient ${name}`);
    unresolvable ||= amount > capacity;
    // no further resource would change what is said
    if (isFull && unresolvable) break;
  }
  if (reasons === undefined) return undefined;
  return { code: unresolvable ? 'UnschedulableAndUnresolvable' : 'Unschedulable', reasons };
}

function added(reasons: string[] | undefined, reason: string): string[] {
  if (reasons === undefined) return [reason];
  reasons.push(reason);
  return reasons;
}

function isIgnored(name: string, { names, groups }: Ignored): boolean {
  return isExtendedResource(name) && (names.has(name) || groups.has(name.slice(0, name.indexOf('/'))));
}

// Behaviour of pkg/scheduler/framework/plugins/noderesources, fit.go, v1.36.3.

const nothing: ResourceAmounts = { milliCPU: 0, memory: 0, ephemeralStorage: 0, scalar: new Map() };

/** What may help a pod that fits nowhere: a pod that ends or asks for less, and a node that has, or gets, enough. */
export function fitEvents(classes?: ResourceClasses): readonly ClusterEventWithHint[] {
  // one event is held against many pods, and one pod against many events
  const requestsOf = rememberedByObject((pod: WirePod) => podAmounts(pod).requests);
  const allocatableOf = rememberedByObject((node: WireNode) => allocatableAmounts(node.status?.allocatable));
  const podEnds = (before: WirePod): QueueingHint => hint(Boolean(before.spec?.nodeName || before.status?.nominatedNodeName));
  const podAsksForLess = (pod: WirePod, before: WirePod, after: WirePod): QueueingHint => {
    if (after.metadata?.uid === pod.metadata?.uid) return 'Queue';
    if (!after.spec?.nodeName) return 'Skip';
    return hint(anyMore(requestsOf(pod), requestsOf(before), requestsOf(after)));
  };
  const delegated: Names = { has: (name) => classes?.classNameOf(name) !== undefined };
  const nodeHasEnough = (pod: WirePod, before: WireNode | undefined, after: WireNode | undefined): QueueingHint => {
    if (after === undefined) return 'Skip';
    const requests = requestsOf(pod);
    const allocatable = allocatableOf(after);
    if (shortages(requests, allocatable, nothing, 0, undefined, delegated) !== undefined) return 'Skip';
    if (before === undefined) return 'Queue';
    const had = allocatableOf(before);
    if (allocatable.pods > had.pods || anyMore(requests, allocatable, had)) return 'Queue';
    return hint(anyDelegated(requests, allocatable, delegated));
  };
  return [
    {
      resource: 'Pod',
      actions: ['Delete', 'UpdatePodScaleDown'],
      hint: (pod, before, after) =>
        after === undefined ? podEnds(podOf(before)) : podAsksForLess(pod, podOf(before), podOf(after)),
    },
    {
      resource: 'Node',
      actions: ['Add', 'UpdateNodeAllocatable'],
      hint: (pod, before, after) => nodeHasEnough(pod, before as WireNode | undefined, after as WireNode | undefined),
    },
    ...(classes === undefined ? [] : [classEvents(requestsOf)]),
  ];
}

/** A class that comes to stand for what the pod asks for may help it. */
function classEvents(requestsOf: (pod: WirePod) => ResourceAmounts): ClusterEventWithHint {
  return {
    resource: 'DeviceClass',
    actions: ['Add', 'Update'],
    hint(pod, before, after) {
      const { scalar } = requestsOf(pod);
      const explicit = extendedResourceOf(after);
      if (before !== undefined) return hint(explicit !== extendedResourceOf(before) && scalar.has(explicit));
      const { name = '' } = (after as WireNode | undefined)?.metadata ?? {};
      return hint(scalar.has(`${classResourcePrefix}${name}`) || scalar.has(explicit));
    },
  };
}

function hint(helps: boolean): QueueingHint {
  return helps ? 'Queue' : 'Skip';
}

function podOf(object: JsonMembers | undefined): WirePod {
  return (object ?? {}) as WirePod;
}

function asksForAny({ scalar }: ResourceAmounts, classes: ResourceClasses): boolean {
  for (const [name, amount] of scalar) if (amount !== 0 && classes.classNameOf(name) !== undefined) return true;
  return false;
}

/** True where a node that has this leaves some of what is asked for to somebody else. */
function anyDelegated({ scalar }: ResourceAmounts, allocatable: ResourceAmounts, delegated: Names): boolean {
  for (const [name, amount] of scalar)
    if (amount !== 0 && (allocatable.scalar.get(name) ?? 0) <= 0 && delegated.has(name)) return true;
  return false;
}

/** True where `one` has more than `other` of a resource that is asked for. */
function anyMore(requests: ResourceAmounts, one: ResourceAmounts, other: ResourceAmounts): boolean {
  if (requests.milliCPU > 0 && one.milliCPU > other.milliCPU) return true;
  if (requests.memory > 0 && one.memory > other.memory) return true;
  if (requests.ephemeralStorage > 0 && one.ephemeralStorage > other.ephemeralStorage) return true;
  for (const [name, amount] of requests.scalar) {
    if (amount !== 0 && (one.scalar.get(name) ?? 0) > (other.scalar.get(name) ?? 0)) return true;
  }
  return false;
}

// Behaviour of pkg/scheduler/framework/plugins/noderesources, resource_allocation.go as fit.go sets it up, v1.36.3.

/** The pod as if it asked for nothing as a whole: what its containers and its overhead ask for. */
function containersOf(info: PodInfo): PodInfo {
  const { resources: _, ...spec } = info.pod.spec ?? { containers: [] };
  return { ...info, ...podAmounts({ spec }) };
}

/** `work`, done once for each object for as long as the object is about. Objects do not change. */
function rememberedByObject<Given extends object, Value>(work: (given: Given) => Value): (given: Given) => Value {
  const known = new WeakMap<Given, Value>();
  return (given) => {
    const before = known.get(given);
    if (before !== undefined) return before;
    const value = work(given);
    known.set(given, value);
    return value;
  };
}
