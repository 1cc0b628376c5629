// Rules of ValidatePolicy and ValidateNodeLabelArgs, v1.22.17, that look at several entries of a policy file.
import { invalidOption } from '../../base/errors.ts';
import type { Policy, PriorityPolicy } from './policy.ts';

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
