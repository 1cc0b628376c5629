import { longestSearched } from '../../api/json/json.ts';
import { podConditionMembers } from '../../api/json/status-members.ts';
import type { WirePodCondition } from '../../api/json/types.ts';
import { isOwnedConditionType, isSharedConditionType } from '../conditions/pod-conditions.ts';
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
  const [ofA, ofB] = [indexOfLong(a), indexOfLong(b)];
  return coversConditions(a, b, ofA, ofB, owned, compared) && coversConditions(b, a, ofB, ofA, owned, compared);
}

/** True when `list` has an equal condition for every one of `wanted` that counts. The indexes are those of the two lists. */
function coversConditions(
  wanted: Conditions,
  list: Conditions,
  ofWanted: Index,
  ofList: Index,
  owned: ReadonlySet<string> | undefined,
  compared: ComparedMembers,
): boolean {
  for (let i = 0; wanted !== undefined && i < wanted.length; i++) {
    // a condition in the same place in both lists is equal; a later one of its type is looked at in its turn
    if (wanted[i] === list?.[i] && wanted.length === list?.length) continue;
    const type = wanted[i]?.type ?? '';
    if (!(isOwnedConditionType(type, owned) || isSharedConditionType(type))) continue;
    const x = lastOfType(wanted, ofWanted, type);
    const y = lastOfType(list, ofList, type);
    if (x === undefined || y === undefined) return false;
    if (x.status !== y.status || x.reason !== y.reason || x.message !== y.message) return false;
    if (compared === 'all' && !(hasUnknownMembersOf(x, y) && hasUnknownMembersOf(y, x))) return false;
  }
  return true;
}

/** By type; undefined for a list that is searched. */
type Index = ReadonlyMap<string, WirePodCondition> | undefined;

function indexOfLong(conditions: Conditions): Index {
  if (conditions === undefined || conditions.length <= longestSearched) return undefined;
  return new Map(conditions.map((condition) => [condition.type, condition]));
}

/** Of a type that stands twice the later one counts, as upstream's map has it. */
function lastOfType(conditions: Conditions, index: Index, type: string): WirePodCondition | undefined {
  if (index !== undefined) return index.get(type);
  for (let i = (conditions?.length ?? 0) - 1; i >= 0; i--) if (conditions?.[i]?.type === type) return conditions[i];
  return undefined;
}

/** True when `condition` has every member of `other` that Kubernetes 1.36 does not know. */
function hasUnknownMembersOf(other: WirePodCondition, condition: WirePodCondition): boolean {
  const [members, own] = [other as object as Members, condition as object as Members];
  for (const key in members) {
    if (!podConditionMembers.has(key) && !valueEqual(members[key], own[key])) return false;
  }
  return true;
}
