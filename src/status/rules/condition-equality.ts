import { isOwnedConditionType, isSharedConditionType } from '../../conditions/pod-conditions.ts';
import { podConditionMembers } from '../../wire/status-members.ts';
import type { WirePodCondition } from '../../wire/types.ts';
import { type ComparedMembers, type Members, valueEqual } from './members-equal.ts';

type Conditions = readonly WirePodCondition[] | undefined;

/** Equality of the conditions that the kubelet owns or shares: their status, reason and message count, and unknown members. */
export function conditionsEqual(
  a: Conditions,
  b: Conditions,
  owned: ReadonlySet<string> | undefined,
  compared: ComparedMembers,
): boolean {
  if (a === b) return true;
  const [one, other] = [
    [a, lastOfType(a)],
    [b, lastOfType(b)],
  ] as const;
  return coversConditions(one, other, owned, compared) && coversConditions(other, one, owned, compared);
}

type Lookup = (type: string) => WirePodCondition | undefined;

/** True when `list` has an equal condition for every one of `wanted` that counts. The lookups are those of the two lists. */
function coversConditions(
  [wanted, wantedOf]: readonly [Conditions, Lookup],
  [list, listOf]: readonly [Conditions, Lookup],
  owned: ReadonlySet<string> | undefined,
  compared: ComparedMembers,
): boolean {
  for (let i = 0; wanted !== undefined && i < wanted.length; i++) {
    // a condition in the same place in both lists is equal; a later one of its type is looked at in its turn
    if (wanted[i] === list?.[i] && wanted.length === list?.length) continue;
    const type = wanted[i]?.type ?? '';
    if (!(isOwnedConditionType(type, owned) || isSharedConditionType(type))) continue;
    const [x, y] = [wantedOf(type), listOf(type)];
    if (x === undefined || y === undefined) return false;
    if (x.status !== y.status || x.reason !== y.reason || x.message !== y.message) return false;
    if (compared === 'all' && !(hasUnknownMembersOf(x, y) && hasUnknownMembersOf(y, x))) return false;
  }
  return true;
}

/** Lists that are no longer than this are searched: an index would cost more. */
const longestSearched = 16;

/** Of a type that stands twice the later one counts, as upstream's map has it. */
function lastOfType(conditions: Conditions): Lookup {
  if (conditions !== undefined && conditions.length > longestSearched) {
    let index: ReadonlyMap<string, WirePodCondition> | undefined;
    return (type) => {
      index ??= new Map(conditions.map((condition) => [condition.type, condition]));
      return index.get(type);
    };
  }
  return (type) => conditions?.findLast((condition) => condition.type === type);
}

/** True when `condition` has every member of `other` that Kubernetes 1.36 does not know. */
function hasUnknownMembersOf(other: WirePodCondition, condition: WirePodCondition): boolean {
  const [members, own] = [other as object as Members, condition as object as Members];
  for (const key in members) {
    if (!podConditionMembers.has(key) && !valueEqual(members[key], own[key])) return false;
  }
  return true;
}
