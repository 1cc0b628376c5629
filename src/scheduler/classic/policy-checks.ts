// Rules of ValidatePolicy and ValidateNodeLabelArgs, v1.22.17, that look at several entries of a policy file.
import { invalidOption } from '../../base/errors.ts';
import { isLabelKey, labelKeyRule } from '../../base/names.ts';
import type { Policy, PredicatePolicy, PriorityPolicy, UtilizationPoint, WeightedResource } from './policy.ts';

type Named = { readonly name: string };

/** Throws ERR_INVALID_OPTION for entries that contradict one another. */
export function checkEntries({ predicates = [], priorities = [] }: Policy): void {
  requireUniqueNames('predicates', predicates);
  requireUniqueNames('priorities', priorities);
  requireOneWeight('labelPreference', priorities);
  requireOneWeight('serviceAntiAffinity', priorities);
  requireOneRatio(priorities);
  const kept = predicates.map(({ argument }) =>
    argument !== undefined && 'labelsPresence' in argument ? argument.labelsPresence : undefined,
  );
  requireNoContradiction((index, at) => `policy.predicates[${index}].argument.labelsPresence.labels[${at}]`, kept);
  const preferred = priorities.map(({ argument }) => {
    if (argument === undefined || !('labelPreference' in argument)) return undefined;
    const { label, presence } = argument.labelPreference;
    return { labels: [label], presence };
  });
  requireNoContradiction((index) => `policy.priorities[${index}].argument.labelPreference.label`, preferred);
}

/** Of two weights for one name only one could count. */
function requireUniqueNames(list: string, entries: readonly Named[]): void {
  for (const [index, { name }] of entries.entries()) {
    const first = entries.findIndex((each) => each.name === name);
    if (first < index) throw invalidOption(`policy.${list}[${index}].name`, `another name than that of entry ${first}`, name);
  }
}

/** All entries of a sort are one plugin, which asks for a label or for its absence. */
function requireNoContradiction(
  path: (index: number, at: number) => string,
  entries: readonly ({ readonly labels: readonly string[]; readonly presence: boolean } | undefined)[],
): void {
  const asked = new Map<string, boolean>();
  for (const [index, entry] of entries.entries()) {
    for (const [at, label] of (entry?.labels ?? []).entries()) {
      const before = asked.get(label);
      if (entry !== undefined && before !== undefined && before !== entry.presence)
        throw invalidOption(path(index, at), 'a label that no other entry asks for the opposite of', label);
      if (entry !== undefined) asked.set(label, entry.presence);
    }
  }
}

/** All entries of a sort are one plugin, which has one weight. */
function requireOneWeight(member: 'labelPreference' | 'serviceAntiAffinity', priorities: readonly PriorityPolicy[]): void {
  const first = priorities.find(({ argument }) => argument !== undefined && member in argument);
  for (const [index, { argument, weight }] of priorities.entries()) {
    if (first === undefined || argument === undefined || !(member in argument) || weight === first.weight) continue;
    const rule = `${first.weight}, the weight of ${JSON.stringify(first.name)}: all entries with ${member} have the same`;
    throw invalidOption(`policy.priorities[${index}].weight`, rule, weight);
  }
}

function requireOneRatio(priorities: readonly PriorityPolicy[]): void {
  const member = 'requestedToCapacityRatioArguments';
  const found = [...priorities.keys()].filter((index) => member in (priorities[index]?.argument ?? {}));
  const [, second] = found;
  if (second === undefined) return;
  throw invalidOption(`policy.priorities[${second}].argument.${member}`, 'absent: one entry with it is all there can be', {});
}

// Rules of pkg/scheduler/apis/config/validation and framework/plugins/legacy_registry.go, v1.22.17.

const largestInt32 = 2 ** 31 - 1;

export function predicateArgument(path: string, value: unknown): NonNullable<PredicatePolicy['argument']> {
  const { serviceAffinity, labelsPresence } = oneOf(path, value, ['serviceAffinity', 'labelsPresence']);
  if (serviceAffinity !== undefined) {
    const at = `${path}.serviceAffinity`;
    const { labels } = policyObjectAt(at, serviceAffinity, ['labels']);
    return { serviceAffinity: { labels: labelsAt(`${at}.labels`, labels) } };
  }
  const at = `${path}.labelsPresence`;
  const { labels, presence = false } = policyObjectAt(at, labelsPresence, ['labels', 'presence']);
  return { labelsPresence: { labels: labelsAt(`${at}.labels`, labels), presence: booleanAt(`${at}.presence`, presence) } };
}

export function priorityArgument(path: string, value: unknown): NonNullable<PriorityPolicy['argument']> {
  const names = ['serviceAntiAffinity', 'labelPreference', 'requestedToCapacityRatioArguments'];
  const { serviceAntiAffinity, labelPreference, requestedToCapacityRatioArguments } = oneOf(path, value, names);
  if (serviceAntiAffinity !== undefined) {
    const at = `${path}.serviceAntiAffinity`;
    const { label } = policyObjectAt(at, serviceAntiAffinity, ['label']);
    return { serviceAntiAffinity: { label: labelAt(`${at}.label`, label) } };
  }
  if (labelPreference !== undefined) {
    const at = `${path}.labelPreference`;
    const { label, presence = false } = policyObjectAt(at, labelPreference, ['label', 'presence']);
    return { labelPreference: { label: labelAt(`${at}.label`, label), presence: booleanAt(`${at}.presence`, presence) } };
  }
  return { requestedToCapacityRatioArguments: ratioAt(`${path}.${names[2]}`, requestedToCapacityRatioArguments) };
}

/** An argument has exactly one of these members. */
function oneOf(path: string, value: unknown, names: readonly string[]): Members {
  const members = policyObjectAt(path, value, names);
  if (Object.keys(members).length === 1) return members;
  const got = Object.keys(members).join(' and ');
  throw invalidOption(path, `an object with exactly one of ${names.join(', ')}${got === '' ? '' : ` (it has ${got})`}`, value);
}

function labelsAt(path: string, value: unknown): string[] {
  const labels = listAt(path, value, labelAt);
  if (labels.length === 0) throw invalidOption(path, 'a list with at least one label', value);
  return labels;
}

function ratioAt(path: string, value: unknown): { shape: UtilizationPoint[]; resources: WeightedResource[] } {
  const { shape, resources = [] } = policyObjectAt(path, value, ['shape', 'resources']);
  const points = listAt(`${path}.shape`, shape, pointAt);
  if (points.length === 0) throw invalidOption(`${path}.shape`, 'a list with at least one point', shape);
  const unsorted = points.findIndex((point, index) => index > 0 && point.utilization <= (points[index - 1]?.utilization ?? 0));
  if (unsorted >= 0) {
    const at = `${path}.shape[${unsorted}].utilization`;
    throw invalidOption(at, 'greater than that of the point before it', points[unsorted]?.utilization);
  }
  return { shape: points, resources: listAt(`${path}.resources`, resources, resourceAt) };
}

function pointAt(path: string, value: unknown): UtilizationPoint {
  const { utilization = 0, score = 0 } = policyObjectAt(path, value, ['utilization', 'score']);
  return {
    utilization: wholeAt(`${path}.utilization`, utilization, 0, 100),
    score: wholeAt(`${path}.score`, score, 0, 10),
  };
}

function resourceAt(path: string, value: unknown): WeightedResource {
  const { name, weight } = policyObjectAt(path, value, ['name', 'weight']);
  return { name: policyTextAt(`${path}.name`, name), weight: wholeAt(`${path}.weight`, weight, 1, largestInt32) };
}

type Members = Readonly<Record<string, unknown>>;

/**
 * The object's members. A member that is null is as good as absent, as it is for Go. Throws for anything but an object, and for a
 * member with a name that is not known.
 */
export function policyObjectAt(path: string, value: unknown, known: readonly string[]): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidOption(path, 'an object', value);
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  const strange = members.find(([key]) => !known.includes(key));
  if (strange !== undefined) {
    const [key, member] = strange;
    throw invalidOption(`${path}.${key}`, `absent: the known members are ${known.join(', ')}`, member);
  }
  return Object.fromEntries(members);
}

/** The items of a list, each checked with its place. */
export function listAt<Item>(path: string, value: unknown, check: (path: string, item: unknown) => Item): Item[] {
  if (!Array.isArray(value)) throw invalidOption(path, 'a list', value);
  return value.map((item: unknown, index) => check(`${path}[${index}]`, item));
}

export function wholeAt(path: string, value: unknown, min: number, max: number): number {
  if (Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max) return Number(value);
  throw invalidOption(path, `a whole number from ${min} to ${max}`, value);
}

export function booleanAt(path: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw invalidOption(path, 'true or false', value);
}

export function policyTextAt(path: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  throw invalidOption(path, 'a non-empty text', value);
}

function labelAt(path: string, value: unknown): string {
  if (isLabelKey(value)) return value;
  throw invalidOption(path, `the key of a label: ${labelKeyRule}`, value);
}
