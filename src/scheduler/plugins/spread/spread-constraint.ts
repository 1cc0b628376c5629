import type { WireNode, WirePod } from '../../../api/json/types.ts';
import { type LabelSelector, type Labels, labelOf, parseLabelSelector } from '../../../api/selectors/label-selector.ts';
import { requiredNodeAffinity } from '../../../api/selectors/node-selector.ts';
import { findUntoleratedTaint } from '../../../api/selectors/taints.ts';

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
export function hasTopologyKeys(labels: Labels | undefined, constraints: readonly SpreadConstraint[]): boolean {
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
function ownSelector(index: number, { labelSelector, matchLabelKeys }: WireSpreadConstraint, labels: Labels): LabelSelector {
  const selector = parseLabelSelector(`spec.topologySpreadConstraints[${index}].labelSelector`, labelSelector);
  const keys = (matchLabelKeys ?? []).filter((key) => labelOf(labels, key) !== undefined);
  if (keys.length === 0) return selector;
  return {
    matchesAll: false,
    matches: (other) => keys.every((key) => labelOf(other, key) === labels[key]) && selector.matches(other),
  };
}
