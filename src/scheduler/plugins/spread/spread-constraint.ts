import type { V1ReplicaSet, V1ReplicationController, V1Service, V1StatefulSet } from '@kubernetes/client-node';
import type { Wire, WireNode, WirePod } from '../../../api/json/types.ts';
import {
  type GivenLabelSelector,
  type LabelSelector,
  type LabelSet,
  labelOf,
  parseLabelSelector,
  selectorFromLabels,
} from '../../../api/selectors/label-selector.ts';
import { requiredNodeAffinity } from '../../../api/selectors/node-selector.ts';
import { findUntoleratedTaint } from '../../../api/selectors/taints.ts';
import { invalidOption } from '../../../base/errors.ts';
import { isLabelKey, labelKeyRule } from '../../../base/names.ts';
import { integerOption, iterableOption, oneOfOption, requireKnownOptions } from '../../../base/options.ts';
import { resources } from '../../../client/resources/api-resource.ts';
import type { ObjectLister } from '../../framework/cluster-objects.ts';
import type { PluginHandle } from '../../framework/plugin.ts';
import { hostname } from '../common.ts';

/** One of a pod's `topologySpreadConstraints`, as it stands in JSON. */
export type WireSpreadConstraint = NonNullable<NonNullable<WirePod['spec']>['topologySpreadConstraints']>[number];

/** What is to be done with a pod that breaks a constraint: it waits, or the node is only liked less. */
export type WhenUnsatisfiable = 'DoNotSchedule' | 'ScheduleAnyway';

/** A constraint of one pod, its selector parsed and its defaults filled in. */
export interface SpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly minDomains: number;
  /** The pods that are counted. For a selector that matches all, none is. */
  readonly selector: LabelSelector;
  readonly honorsAffinity: boolean;
  readonly honorsTaints: boolean;
}

/** The pod's own constraints of this kind. Throws for a selector that is none. */
export function ownConstraints(pod: WirePod, kind: WhenUnsatisfiable): SpreadConstraint[] {
  const labels = pod.metadata?.labels ?? {};
  return (pod.spec?.topologySpreadConstraints ?? [])
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === kind)
    .map((constraint, index) => parseConstraint(constraint, ownSelector(index, constraint, labels)));
}

/** A constraint that counts the pods of this selector. */
export function parseConstraint(constraint: WireSpreadConstraint, selector: LabelSelector): SpreadConstraint {
  return {
    maxSkew: constraint.maxSkew,
    topologyKey: constraint.topologyKey,
    minDomains: constraint.minDomains ?? 1,
    selector,
    honorsAffinity: (constraint.nodeAffinityPolicy ?? 'Honor') === 'Honor',
    honorsTaints: constraint.nodeTaintsPolicy === 'Honor',
  };
}

/** True where a node has a label for every constraint. */
export function hasTopologyKeys(labels: LabelSet | undefined, constraints: readonly SpreadConstraint[]): boolean {
  return constraints.every(({ topologyKey }) => labelOf(labels, topologyKey) !== undefined);
}

/** True where the pods of `node` count for the constraint: the pod could go there as far as the constraint looks at that. */
export type Inclusion = (constraint: SpreadConstraint, node: WireNode) => boolean;

export function inclusionFor(pod: WirePod): Inclusion {
  const hasAffinity = requiredNodeAffinity(pod);
  const isTolerated = ({ spec }: WireNode) =>
    findUntoleratedTaint(spec?.taints, pod.spec?.tolerations, ['NoSchedule', 'NoExecute']) === undefined;
  return ({ honorsAffinity, honorsTaints }, node) =>
    (!honorsAffinity || hasAffinity(node)) && (!honorsTaints || isTolerated(node));
}

/** True where {@link inclusionFor} is true for every node. */
export function includesAllNodes({ spec }: WirePod, constraints: readonly SpreadConstraint[]): boolean {
  const isFree =
    Object.keys(spec?.nodeSelector ?? {}).length === 0 &&
    spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution == null;
  return constraints.every(({ honorsAffinity, honorsTaints }) => !honorsTaints && (isFree || !honorsAffinity));
}

/** The pods of the constraint's selector that have the pod's own values of the labels in `matchLabelKeys`, too. */
function ownSelector(index: number, { labelSelector, matchLabelKeys }: WireSpreadConstraint, labels: LabelSet): LabelSelector {
  const selector = parseLabelSelector(`spec.topologySpreadConstraints[${index}].labelSelector`, labelSelector);
  const keys = (matchLabelKeys ?? []).filter((key) => labelOf(labels, key) !== undefined);
  if (keys.length === 0) return selector;
  return {
    matchesAll: false,
    matches: (other) => keys.every((key) => labelOf(other, key) === labels[key]) && selector.matches(other),
  };
}

/** The arguments of the plugin PodTopologySpread, as a profile has them. */
export interface PodTopologySpreadArguments {
  /** For pods without constraints of their own; only with `List`. Their selector is deduced for each pod. */
  readonly defaultConstraints?: readonly WireSpreadConstraint[];
  /** `System`, the default: pods spread over nodes and, more loosely, over zones. `List`: by `defaultConstraints`. */
  readonly defaultingType?: 'System' | 'List';
}

/** What pods without constraints of their own are spread by. */
export interface SpreadDefaults {
  readonly constraints: readonly WireSpreadConstraint[];
  /** True for the system's: then nodes that lack a topology key are scored by the others. */
  readonly areSystem: boolean;
}

const systemConstraints: readonly WireSpreadConstraint[] = [
  { topologyKey: hostname, maxSkew: 3, whenUnsatisfiable: 'ScheduleAnyway' },
  { topologyKey: 'topology.kubernetes.io/zone', maxSkew: 5, whenUnsatisfiable: 'ScheduleAnyway' },
];
const knownArguments = ['apiVersion', 'kind', 'defaultConstraints', 'defaultingType'];
const knownMembers = [
  'maxSkew',
  'topologyKey',
  'whenUnsatisfiable',
  'labelSelector',
  'matchLabelKeys',
  'minDomains',
  'nodeAffinityPolicy',
  'nodeTaintsPolicy',
];
const policies = ['Honor', 'Ignore'] as const;

/** Throws ERR_INVALID_OPTION for arguments that break a rule. */
export function spreadDefaults(args: unknown): SpreadDefaults {
  const name = 'PodTopologySpread';
  requireKnownOptions(name, args ?? {}, knownArguments);
  const { defaultConstraints, defaultingType = 'System' } = (args ?? {}) as PodTopologySpreadArguments;
  oneOfOption(`${name}.defaultingType`, defaultingType, ['System', 'List']);
  const constraints = [...iterableOption(`${name}.defaultConstraints`, defaultConstraints ?? [])];
  if (defaultingType === 'System') {
    if (constraints.length === 0) return { constraints: systemConstraints, areSystem: true };
    throw invalidOption(`${name}.defaultConstraints`, 'empty unless `defaultingType` is "List"', defaultConstraints);
  }
  const pairs = new Set<string>();
  for (const [i, constraint] of constraints.entries()) {
    const at = `${name}.defaultConstraints[${i}]`;
    checkConstraint(at, constraint);
    const pair = `${constraint.topologyKey} ${constraint.whenUnsatisfiable}`;
    if (pairs.has(pair)) {
      throw invalidOption(at, 'the only one with its `topologyKey` and `whenUnsatisfiable`', pair);
    }
    pairs.add(pair);
  }
  return { constraints, areSystem: false };
}

function checkConstraint(at: string, constraint: WireSpreadConstraint): void {
  requireKnownOptions(at, constraint, knownMembers);
  integerOption(`${at}.maxSkew`, constraint.maxSkew, 1);
  if (!isLabelKey(constraint.topologyKey)) throw invalidOption(`${at}.topologyKey`, labelKeyRule, constraint.topologyKey);
  oneOfOption(`${at}.whenUnsatisfiable`, constraint.whenUnsatisfiable, ['DoNotSchedule', 'ScheduleAnyway']);
  if (constraint.labelSelector != null) {
    throw invalidOption(`${at}.labelSelector`, 'absent: it is deduced for each pod', constraint.labelSelector);
  }
  if (constraint.minDomains != null) integerOption(`${at}.minDomains`, constraint.minDomains, 1);
  if (constraint.nodeAffinityPolicy != null) oneOfOption(`${at}.nodeAffinityPolicy`, constraint.nodeAffinityPolicy, policies);
  if (constraint.nodeTaintsPolicy != null) oneOfOption(`${at}.nodeTaintsPolicy`, constraint.nodeTaintsPolicy, policies);
}

/** What selects pods that belong together. */
export interface SelectingObjects {
  readonly services: ObjectLister<Wire<V1Service>>;
  readonly replicationControllers: ObjectLister<Wire<V1ReplicationController>>;
  readonly replicaSets: ObjectLister<Wire<V1ReplicaSet>>;
  readonly statefulSets: ObjectLister<Wire<V1StatefulSet>>;
}

interface SelectingController {
  readonly spec?: { readonly selector?: GivenLabelSelector | null };
}

/** To be asked for while a plugin is made. */
export function selectingObjects(handle: PluginHandle): SelectingObjects {
  return {
    services: handle.objects(resources.services),
    replicationControllers: handle.objects(resources.replicationControllers),
    replicaSets: handle.objects(resources.replicaSets),
    statefulSets: handle.objects(resources.statefulSets),
  };
}

/**
 * The selector of the services that select the pod and of the controller that owns it, all of them together. It matches all
 * where there is none.
 */
export function defaultSelector({ metadata }: WirePod, selecting: SelectingObjects): LabelSelector {
  const { namespace = '', labels = {}, ownerReferences = [] } = metadata ?? {};
  let wanted: LabelSet = {};
  for (const { spec } of selecting.services.list(namespace)) {
    const selector = spec?.selector;
    if (selector == null) continue;
    if (Object.entries(selector).every(([key, value]) => labelOf(labels, key) === value)) wanted = { ...wanted, ...selector };
  }
  let byController: LabelSelector | undefined;
  const owner = ownerReferences.find(({ controller }) => controller === true);
  const kind = `${owner?.apiVersion} ${owner?.kind}`;
  const name = owner?.name ?? '';
  if (kind === 'v1 ReplicationController') {
    wanted = { ...wanted, ...selecting.replicationControllers.get(namespace, name)?.spec?.selector };
  } else if (kind === 'apps/v1 ReplicaSet') {
    byController = controllerSelector(selecting.replicaSets.get(namespace, name));
  } else if (kind === 'apps/v1 StatefulSet') {
    byController = controllerSelector(selecting.statefulSets.get(namespace, name));
  }
  const byLabels = selectorFromLabels(wanted);
  if (byController === undefined || byController.matchesAll) return byLabels;
  const both = byController;
  return { matchesAll: false, matches: (other) => byLabels.matches(other) && both.matches(other) };
}

/** Undefined where the controller has no selector, or none that can be read. */
function controllerSelector(controller: SelectingController | undefined): LabelSelector | undefined {
  const selector = controller?.spec?.selector;
  if (selector == null) return undefined;
  try {
    return parseLabelSelector('spec.selector', selector);
  } catch {
    return undefined;
  }
}
