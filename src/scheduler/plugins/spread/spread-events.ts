import { isDeepStrictEqual } from 'node:util';
import type { WireNode, WirePod } from '../../../api/json/types.ts';
import { labelOf } from '../../../api/selectors/label-selector.ts';
import type { ClusterEventWithHint, QueueingHint } from '../../framework/cluster-event.ts';
import { hasTopologyKeys, type SpreadConstraint } from './spread-constraint.ts';

type ConstraintsOf = (pod: WirePod) => readonly SpreadConstraint[];
type PodHint = (pod: WirePod, before: WirePod | undefined, after: WirePod | undefined) => boolean;

/** What may help a pod that was kept waiting by one of these constraints. */
export function spreadEvents(constraintsOf: ConstraintsOf): readonly ClusterEventWithHint[] {
  return [
    {
      resource: 'Pod',
      actions: ['Add', 'UpdatePodLabel', 'UpdatePodToleration', 'Delete'],
      hint: (pod, before, after) => hintOf(podHint(constraintsOf)(pod, before as WirePod, after as WirePod)),
    },
    {
      resource: 'Node',
      actions: ['Add', 'Delete', 'UpdateNodeLabel', 'UpdateNodeTaint'],
      hint: (pod, before, after) => hintOf(nodeMayHelp(constraintsOf(pod), before as WireNode, after as WireNode)),
    },
  ];
}

function hintOf(mayHelp: boolean): QueueingHint {
  return mayHelp ? 'Queue' : 'Skip';
}

/** A pod that is counted comes, goes or changes sides; or the pod itself tolerates what kept its nodes from being counted. */
function podHint(constraintsOf: ConstraintsOf): PodHint {
  return (pod, before, after) => {
    if ([before, after].some((changed) => changed !== undefined && !concerns(changed, pod))) return false;
    const constraints = constraintsOf(pod);
    const matches =
      (changed: WirePod) =>
      ({ selector }: SpreadConstraint) =>
        selector.matches(changed.metadata?.labels);
    if (before === undefined || after === undefined) {
      const changed = before ?? after;
      return changed !== undefined && constraints.some(matches(changed));
    }
    if (after.metadata?.uid === pod.metadata?.uid && hasNewTolerations(before, after)) {
      if (constraints.some(({ honorsTaints }) => honorsTaints)) return true;
    }
    return constraints.some((each) => matches(before)(each) !== matches(after)(each));
  };
}

/** True for the pod itself, and for pods of its namespace that have a node or were promised one. */
function concerns(changed: WirePod, pod: WirePod): boolean {
  if (changed.metadata?.uid === pod.metadata?.uid) return true;
  if (!changed.spec?.nodeName && !changed.status?.nominatedNodeName) return false;
  return changed.metadata?.namespace === pod.metadata?.namespace;
}

function hasNewTolerations(before: WirePod, after: WirePod): boolean {
  return !isDeepStrictEqual(before.spec?.tolerations ?? [], after.spec?.tolerations ?? []);
}

/** A node is counted that was not, or no longer, or in another domain; or its taints change which nodes are counted. */
function nodeMayHelp(constraints: readonly SpreadConstraint[], before?: WireNode, after?: WireNode): boolean {
  const wasCounted = before !== undefined && hasTopologyKeys(before.metadata?.labels, constraints);
  const isCounted = after !== undefined && hasTopologyKeys(after.metadata?.labels, constraints);
  if (wasCounted !== isCounted) return true;
  if (!isCounted || before === undefined) return false;
  const hasMoved = constraints.some(
    ({ topologyKey }) => labelOf(before.metadata?.labels, topologyKey) !== labelOf(after.metadata?.labels, topologyKey),
  );
  return hasMoved || !isDeepStrictEqual(before.spec?.taints ?? [], after.spec?.taints ?? []);
}
