// Behaviour of k8s.io/apimachinery/pkg/apis/meta/v1 LabelSelectorAsSelector, v0.36.3.
import { invalidArgument } from '../../base/errors.ts';
import {
  type GivenRequirement,
  type Labels,
  labelOf,
  labelOperators,
  meetsRequirement,
  parseRequirement,
  type Requirement,
} from './requirement.ts';

/** A selector that was parsed. */
export interface LabelSelector {
  /** True for a selector that selects every object. */
  readonly matchesAll: boolean;
  /** True where an object with these labels is selected. Without labels an object counts as one that has none. */
  matches(labels: Labels | null | undefined): boolean;
}

/** A selector as it stands in a pod, a service's owner, or a budget. */
export interface GivenLabelSelector {
  readonly matchLabels?: Labels | null | undefined;
  readonly matchExpressions?: readonly GivenRequirement[] | null | undefined;
}

export const selectsNothing: LabelSelector = { matchesAll: false, matches: () => false };
const selectsAll: LabelSelector = { matchesAll: true, matches: () => true };

/** No selector selects nothing, an empty one everything. Throws ERR_INVALID_ARGUMENT for a selector that breaks a rule. */
export function parseLabelSelector(path: string, given: GivenLabelSelector | null | undefined): LabelSelector {
  if (given === undefined || given === null) return selectsNothing;
  if (typeof given !== 'object') throw invalidArgument(path, 'a label selector', given);
  const equal = Object.entries(given.matchLabels ?? {}).map(([key, value]) =>
    parseRequirement(`${path}.matchLabels`, { key, operator: 'In', values: [value] }, labelOperators),
  );
  const others = (given.matchExpressions ?? []).map((requirement, index) =>
    parseRequirement(`${path}.matchExpressions[${index}]`, requirement, labelOperators),
  );
  return selectorOf([...equal, ...others]);
}

/** Selects what has all of these labels: the selector of services, replication controllers and `nodeSelector`. */
export function selectorFromLabels(labels: Labels | null | undefined): LabelSelector {
  const wanted = Object.entries(labels ?? {});
  if (wanted.length === 0) return selectsAll;
  return { matchesAll: false, matches: (given) => wanted.every(([key, value]) => labelOf(given, key) === value) };
}

function selectorOf(requirements: readonly Requirement[]): LabelSelector {
  if (requirements.length === 0) return selectsAll;
  return { matchesAll: false, matches: (labels) => requirements.every((requirement) => meetsRequirement(requirement, labels)) };
}
