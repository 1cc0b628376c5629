// Behaviour of kube-scheduler/framework AffinityTerm, v0.36.3.

import type { WirePod } from '../../api/json/types.ts';
import { type Labels, parseLabelSelector } from '../../api/selectors/label-selector.ts';
import type { AffinityTerm, WeightedAffinityTerm } from './pod-info.ts';

type Affinity = NonNullable<NonNullable<WirePod['spec']>['affinity']>;
export type GivenAffinityTerm = NonNullable<
  NonNullable<Affinity['podAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
>[number];
export type GivenWeightedTerm = NonNullable<
  NonNullable<Affinity['podAffinity']>['preferredDuringSchedulingIgnoredDuringExecution']
>[number];

/**
 * A term of a pod in `namespace`. Without namespaces and namespace selector it speaks of the pods of that namespace. Throws
 * ERR_INVALID_ARGUMENT for a selector that breaks a rule.
 */
export function parseAffinityTerm(path: string, namespace: string, given: GivenAffinityTerm): AffinityTerm {
  const selector = parseLabelSelector(`${path}.labelSelector`, given.labelSelector);
  const namespaceSelector = parseLabelSelector(`${path}.namespaceSelector`, given.namespaceSelector);
  const isOwnOnly = !given.namespaces?.length && given.namespaceSelector == null;
  const namespaces = new Set(isOwnOnly ? [namespace] : (given.namespaces ?? []));
  const speaksOf = (name: string, labels: Labels | undefined) =>
    namespaces.has(name) || (labels === undefined ? namespaceSelector.matchesAll : namespaceSelector.matches(labels));
  return {
    key: JSON.stringify([isOwnOnly ? namespace : '', given]),
    topologyKey: given.topologyKey,
    matches: ({ metadata }, namespaceLabels) =>
      speaksOf(metadata?.namespace ?? '', namespaceLabels) && selector.matches(metadata?.labels),
  };
}

/** As {@link parseAffinityTerm}, with the term's weight. */
export function parseWeightedTerm(path: string, namespace: string, given: GivenWeightedTerm): WeightedAffinityTerm {
  const term = parseAffinityTerm(`${path}.podAffinityTerm`, namespace, given.podAffinityTerm);
  return { ...term, weight: given.weight };
}
