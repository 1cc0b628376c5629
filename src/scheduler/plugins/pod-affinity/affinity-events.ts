import type { WireNode, WirePod } from '../../../api/json/types.ts';
import { labelOf } from '../../../api/selectors/label-selector.ts';
import type { ClusterEventWithHint, QueueingHint } from '../../framework/cluster-event.ts';
import { parseAffinityTerm } from '../../nodes/affinity-terms.ts';
import type { AffinityTerm } from '../../nodes/pod-info.ts';
import { matchesAllTerms, type NamespaceLabels } from './affinity-terms.ts';

interface RequiredTerms {
  readonly affinity: readonly AffinityTerm[];
  readonly antiAffinity: readonly AffinityTerm[];
}

/** What may help a pod that required affinity kept waiting, its own or that of other pods. */
export function affinityEvents(labelsOf: NamespaceLabels): readonly ClusterEventWithHint[] {
  const termsOf = rememberedTerms();
  return [
    {
      resource: 'Pod',
      actions: ['Add', 'UpdatePodLabel', 'Delete'],
      hint: (pod, before, after) => hintOf(podMayHelp(termsOf, labelsOf, pod, before as WirePod, after as WirePod)),
    },
    {
      resource: 'Node',
      actions: ['Add', 'UpdateNodeLabel'],
      hint: (pod, before, after) => hintOf(nodeMayHelp(termsOf(pod), before as WireNode, after as WireNode)),
    },
  ];
}

function hintOf(mayHelp: boolean): QueueingHint {
  return mayHelp ? 'Queue' : 'Skip';
}

/**
 * A pod comes that is wanted, or goes that is not; or the labels of the pod itself change. As upstream, only a pod counts
 * that matches all terms of an anti-affinity.
 */
function podMayHelp(
  termsOf: (pod: WirePod) => RequiredTerms,
  labelsOf: NamespaceLabels,
  pod: WirePod,
  before?: WirePod,
  after?: WirePod,
): boolean {
  if (before !== undefined && after?.metadata?.uid === pod.metadata?.uid) return true;
  if ([before, after].some((changed) => changed !== undefined && !hasPlace(changed))) return false;
  const { affinity, antiAffinity } = termsOf(pod);
  const isWanted = (other: WirePod) => matchesAllTerms(affinity, other, labelsOf);
  const isUnwanted = (other: WirePod) => matchesAllTerms(antiAffinity, other, labelsOf);
  if (before === undefined) return after !== undefined && isWanted(after);
  if (after === undefined) return isUnwanted(before) || matchesAllTerms(termsOf(before).antiAffinity, pod, labelsOf);
  return (!isWanted(before) && isWanted(after)) || (isUnwanted(before) && !isUnwanted(after));
}

/** True for a pod that has a node, or was promised one. */
function hasPlace({ spec, status }: WirePod): boolean {
  return Boolean(spec?.nodeName || status?.nominatedNodeName);
}

/** A node comes into, or changes, a domain that is wanted; or leaves, or changes, one that is not. */
function nodeMayHelp({ affinity, antiAffinity }: RequiredTerms, before?: WireNode, after?: WireNode): boolean {
  const domains = ({ topologyKey }: AffinityTerm) => ({
    was: labelOf(before?.metadata?.labels, topologyKey),
    is: labelOf(after?.metadata?.labels, topologyKey),
  });
  const mayBeWanted = affinity.some((term) => {
    const { was, is } = domains(term);
    return is !== undefined && was !== is;
  });
  if (mayBeWanted) return true;
  // A new node may be the only one without pods that are not wanted.
  if (before === undefined) return antiAffinity.length > 0;
  return antiAffinity.some((term) => {
    const { was, is } = domains(term);
    return was !== undefined && was !== is;
  });
}

/** The required terms of a pod, read once for each version of it. Throws for a selector that breaks a rule. */
function rememberedTerms(): (pod: WirePod) => RequiredTerms {
  const remembered = new WeakMap<WirePod, RequiredTerms>();
  return (pod) => {
    const known = remembered.get(pod) ?? requiredTerms(pod);
    remembered.set(pod, known);
    return known;
  };
}

function requiredTerms({ metadata, spec }: WirePod): RequiredTerms {
  const read = (member: 'podAffinity' | 'podAntiAffinity') =>
    (spec?.affinity?.[member]?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term, index) =>
      parseAffinityTerm(`spec.affinity.${member}[${index}]`, metadata?.namespace ?? '', term),
    );
  return { affinity: read('podAffinity'), antiAffinity: read('podAntiAffinity') };
}
