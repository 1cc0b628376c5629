import type { WirePod } from '../../../api/json/types.ts';
import type { Labels } from '../../../api/selectors/label-selector.ts';
import type { AffinityTerm } from '../../nodes/pod-info.ts';

/** The labels of a namespace; undefined for one that is not known. */
export type NamespaceLabels = (namespace: string) => Labels | undefined;

/** True where every term speaks of `other`. No terms speak of nobody. */
export function matchesAllTerms(terms: readonly AffinityTerm[], other: WirePod, labelsOf: NamespaceLabels): boolean {
  if (terms.length === 0) return false;
  const namespaceLabels = labelsOf(other.metadata?.namespace ?? '');
  return terms.every((term) => term.matches(other, namespaceLabels));
}
