import type { WirePod } from '../../../../../src/api/json/types.ts';
import type { Labels } from '../topology-world.ts';

type Affinity = NonNullable<NonNullable<WirePod['spec']>['affinity']>;
export type Term = NonNullable<NonNullable<Affinity['podAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']>[number];

/** Speaks of the pods with these labels, in the same zone unless another key is named. */
export function term(matchLabels: Labels, topologyKey = 'zone'): Term {
  return { topologyKey, labelSelector: { matchLabels } };
}

export function affinityTo(...terms: Term[]): { affinity: Affinity } {
  return { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } };
}

export function antiAffinityTo(...terms: Term[]): { affinity: Affinity } {
  return { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } };
}

/** Would rather be where the pods of this term are, or rather not (`podAntiAffinity`). */
export function preferring(weight: number, podAffinityTerm: Term, member: 'podAffinity' | 'podAntiAffinity' = 'podAffinity') {
  return { affinity: { [member]: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm }] } } };
}
