// Behaviour of component-helpers/scheduling/corev1/nodeaffinity RequiredNodeAffinity and PreferredSchedulingTerms, v0.36.3.
import type { WireNode } from '../json/node-types.ts';
import type { Pod } from '../json/types.ts';
import { selectorFromLabels } from './label-selector.ts';
import { type GivenNodeSelectorTerm, type NodeTest, nodeSelectorTest, parseNodeSelectorTerm } from './node-selector.ts';

/** A term that prefers nodes, as it stands in a pod. */
export interface GivenPreferredTerm {
  readonly weight: number;
  readonly preference: GivenNodeSelectorTerm;
}

/** True for a node with the labels that the pod's `nodeSelector` and its required affinity ask for. */
export function requiredNodeAffinity({ spec }: Pod): NodeTest {
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const selector = selectorFromLabels(spec?.nodeSelector);
  const test = required == null ? undefined : nodeSelectorTest(required.nodeSelectorTerms);
  return (node) => selector.matches(node.metadata?.labels) && (test === undefined || test(node));
}

/** True when the node has the labels that the pod's selector and its required affinity ask for. */
export function matchesNodeAffinity(pod: Pod, node: WireNode): boolean {
  return requiredNodeAffinity(pod)(node);
}

/** The nodes that a pod or a profile prefers. */
export interface NodePreference {
  /** True where no term counts. */
  readonly isEmpty: boolean;
  /** The sum of the weights of the terms that select the node. */
  score(node: WireNode): number;
}

/** Leaves out terms of weight 0. A term without requirements selects no node. Throws ERR_INVALID_ARGUMENT for a term that breaks a rule. */
export function parseNodePreference(path: string, given: readonly GivenPreferredTerm[] | null | undefined): NodePreference {
  const terms = (given ?? []).flatMap(({ weight, preference }, index) =>
    weight === 0 ? [] : [{ weight, test: parseNodeSelectorTerm(`${path}[${index}]`, preference) }],
  );
  return {
    isEmpty: terms.length === 0,
    score: (node) => terms.reduce((sum, { weight, test }) => (test(node) ? sum + weight : sum), 0),
  };
}
