// Behaviour of component-helpers/scheduling/corev1/nodeaffinity NodeSelector, v0.36.3.
import { invalidArgument } from '../../base/errors.ts';
import type { WireNode } from '../json/node-types.ts';
import { type GivenRequirement, meetsRequirement, nodeOperators, parseRequirement } from './requirement.ts';

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
