// Behaviour of component-helpers/scheduling/corev1/nodeaffinity NodeSelector, v0.36.3.
import { invalidArgument } from '../../base/errors.ts';
import type { Pod, WireNode } from '../json/types.ts';
import {
  type GivenRequirement,
  meetsRequirement,
  nodeOperators,
  parseRequirement,
  selectorFromLabels,
} from './label-selector.ts';

/** One term of a node selector, as it stands in a pod. */
export interface GivenNodeSelectorTerm {
  readonly matchExpressions?: readonly GivenRequirement[] | null | undefined;
  readonly matchFields?: readonly GivenRequirement[] | null | undefined;
}

/** A test of a node. */
export type NodeTest = (node: WireNode) => boolean;

/**
 * True for a node that one of the terms selects. An empty term selects none, and so does one that breaks a rule: see
 * {@link parseNodeSelectorTerm} for the rules.
 */
export function nodeSelectorTest(terms: readonly GivenNodeSelectorTerm[] | null | undefined): NodeTest {
  const tests = (terms ?? []).flatMap((term) => {
    try {
      return [parseNodeSelectorTerm('nodeSelectorTerm', term)];
    } catch {
      return []; // the other terms count
    }
  });
  return (node) => tests.some((test) => test(node));
}

/**
 * The test of one term: all of its expressions and fields must fit. An empty term selects no node. Throws
 * ERR_INVALID_ARGUMENT for a term that breaks a rule: a field takes `In` and `NotIn` only, with exactly one value.
 */
export function parseNodeSelectorTerm(path: string, { matchExpressions, matchFields }: GivenNodeSelectorTerm): NodeTest {
  const expressions = (matchExpressions ?? []).map((given, index) =>
    parseRequirement(`${path}.matchExpressions[${index}]`, given, nodeOperators),
  );
  const fields = (matchFields ?? []).map((given, index) => parseFieldRequirement(`${path}.matchFields[${index}]`, given));
  if (expressions.length + fields.length === 0) return () => false;
  return (node) => {
    const labels = node.metadata?.labels;
    if (!expressions.every((requirement) => meetsRequirement(requirement, labels))) return false;
    // fields are not asked of a node without a name
    return !node.metadata?.name || fields.every((test) => test(node));
  };
}

function parseFieldRequirement(path: string, { key, operator, values }: GivenRequirement): NodeTest {
  if (operator !== 'In' && operator !== 'NotIn') throw invalidArgument(`${path}.operator`, 'one of In, NotIn', operator);
  const [wanted, ...others] = values ?? [];
  if (wanted === undefined || others.length > 0) throw invalidArgument(`${path}.values`, 'exactly one value', values);
  return (node) => ((key === 'metadata.name' ? (node.metadata?.name ?? '') : '') === wanted) === (operator === 'In');
}

// Behaviour of component-helpers/scheduling/corev1/nodeaffinity RequiredNodeAffinity and PreferredSchedulingTerms, v0.36.3.

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
