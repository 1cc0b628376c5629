// Behaviour of k8s.io/apimachinery/pkg/apis/meta/v1 LabelSelectorAsSelector, v0.36.3.
import { invalidArgument } from '../../base/errors.ts';
import { isLabelKey, isLabelValue } from '../../base/names.ts';

/** A selector that was parsed. */
export interface LabelSelector {
  /** True for a selector that selects every object. */
  readonly matchesAll: boolean;
  /** True where an object with these labels is selected. Without labels an object counts as one that has none. */
  matches(labels: LabelSet | null | undefined): boolean;
}

/** A selector as it stands in a pod, a service's owner, or a budget. */
export interface GivenLabelSelector {
  readonly matchLabels?: LabelSet | null | undefined;
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
export function selectorFromLabels(labels: LabelSet | null | undefined): LabelSelector {
  const wanted = Object.entries(labels ?? {});
  if (wanted.length === 0) return selectsAll;
  return { matchesAll: false, matches: (given) => wanted.every(([key, value]) => labelOf(given, key) === value) };
}

function selectorOf(requirements: readonly Requirement[]): LabelSelector {
  if (requirements.length === 0) return selectsAll;
  return { matchesAll: false, matches: (labels) => requirements.every((requirement) => meetsRequirement(requirement, labels)) };
}

// Behaviour of k8s.io/apimachinery/pkg/labels Requirement, v0.36.3.

/** What an object says of itself, by key. */
export type LabelSet = Readonly<Record<string, string>>;

/** A requirement on one label, as it stands in a selector. */
export interface GivenRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | null | undefined;
}

/** A requirement that was found to be sound. */
interface Requirement {
  readonly key: string;
  readonly operator: RequirementOperator;
  readonly values: ReadonlySet<string>;
  /** What `Gt` and `Lt` compare with. */
  readonly bound: bigint | undefined;
}

export type RequirementOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';

/** The operators of label selectors. Node selectors have `Gt` and `Lt` as well. */
const labelOperators: readonly RequirementOperator[] = ['In', 'NotIn', 'Exists', 'DoesNotExist'];
export const nodeOperators: readonly RequirementOperator[] = [...labelOperators, 'Gt', 'Lt'];

/** Throws ERR_INVALID_ARGUMENT for an operator not in `operators`, a wrong number of values, and what is no label or value. */
export function parseRequirement(
  path: string,
  { key, operator, values }: GivenRequirement,
  operators: readonly RequirementOperator[],
): Requirement {
  const known = operators.find((each) => each === operator);
  if (known === undefined) throw invalidArgument(`${path}.operator`, `one of ${operators.join(', ')}`, operator);
  const list = values ?? [];
  const rule = valuesRule(known, list.length);
  if (rule !== undefined) throw invalidArgument(`${path}.values`, rule, values);
  if (!isLabelKey(key)) throw invalidArgument(`${path}.key`, 'the key of a label', key);
  for (const value of list) {
    if (!isLabelValue(value)) throw invalidArgument(`${path}.values`, 'values of a label', value);
  }
  if (known !== 'Gt' && known !== 'Lt') return { key, operator: known, values: new Set(list), bound: undefined };
  const bound = int64Of(list[0]);
  if (bound === undefined) throw invalidArgument(`${path}.values`, `a whole number for ${known}`, list[0]);
  return { key, operator: known, values: new Set(list), bound };
}

/** Undefined where there are as many values as the operator needs. */
function valuesRule(operator: RequirementOperator, count: number): string | undefined {
  if (operator === 'In' || operator === 'NotIn') return count > 0 ? undefined : `at least one value for ${operator}`;
  if (operator === 'Gt' || operator === 'Lt') return count === 1 ? undefined : `exactly one value for ${operator}`;
  return count === 0 ? undefined : `no value for ${operator}`;
}

/** True where the labels are as the requirement asks. */
export function meetsRequirement({ key, operator, values, bound }: Requirement, labels: LabelSet | null | undefined): boolean {
  const value = labelOf(labels, key);
  switch (operator) {
    case 'In':
      return value !== undefined && values.has(value);
    case 'NotIn':
      return value === undefined || !values.has(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return isBeyond(operator, value, bound);
  }
}

/** A label's value; undefined where the object does not have the label itself. */
export function labelOf(labels: LabelSet | null | undefined, key: string): string | undefined {
  return labels != null && Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function isBeyond(operator: 'Gt' | 'Lt', value: string | undefined, bound: bigint | undefined): boolean {
  const number = int64Of(value);
  if (number === undefined || bound === undefined) return false;
  return operator === 'Gt' ? number > bound : number < bound;
}

const largestInt64 = 2n ** 63n - 1n;

/** Undefined for what is no whole number of 64 bits. */
function int64Of(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^[+-]?\d{1,64}$/.test(text)) return undefined;
  const number = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return number > largestInt64 || number < -largestInt64 - 1n ? undefined : number;
}
