import isEqual from 'lodash.isequal';
import { longestSearched } from '../../api/json/json.ts';
import { containerStatusMembers, podConditionMembers, podStatusMembers, stateMembers } from '../../api/json/status-members.ts';
import type { WireContainerStatus, WirePodCondition, WirePodStatus } from '../../api/json/types.ts';
import { isOwnedConditionType, isSharedConditionType } from '../conditions/pod-conditions.ts';

/** Members of a pod's status that other components write: the apiserver's value stays, and a difference does not count. */
export const foreignFields = [
  'resourceClaimStatuses',
  'extendedResourceClaimStatus',
  'nodeAllocatableResourceClaimStatuses',
] as const;
const foreign: ReadonlySet<string> = new Set(foreignFields);

/**
 * True when the two canonical statuses are equal as far as the kubelet is concerned: conditions of other owners,
 * condition times and claim statuses do not count. Both sides must have gone through `normalizeStatus`. With `known`,
 * members that Kubernetes 1.36 does not know do not count either, where `withUnknownMembers` keeps them.
 *
 * Behaviour of pkg/kubelet/status isPodStatusByKubeletEqual, v1.36.3. Cheap comparisons come first.
 */
export function isPodStatusByKubeletEqual(
  a: WirePodStatus,
  b: WirePodStatus,
  owned?: ReadonlySet<string>,
  compared: ComparedMembers = 'all',
): boolean {
  if (a === b) return true;
  if (!conditionsEqual(a.conditions, b.conditions, owned, compared)) return false;
  return membersEqual(a as Members, b as Members, (key, x, y) => statusMemberEqual(key, x, y, compared));
}

function statusMemberEqual(key: string, a: unknown, b: unknown, compared: ComparedMembers): boolean {
  switch (key) {
    case 'conditions':
      return true;
    case 'containerStatuses':
    case 'initContainerStatuses':
    case 'ephemeralContainerStatuses':
      return containersEqual(a as WireContainerStatus[] | undefined, b as WireContainerStatus[] | undefined, compared);
    case 'podIPs':
    case 'hostIPs':
      return valueEqual(a, b) || (compared === 'known' && areSameAddresses(a, b));
    default:
      return a === b || foreign.has(key) || isIgnored(key, podStatusMembers, compared) || valueEqual(a, b);
  }
}

function containersEqual(
  a: WireContainerStatus[] | undefined,
  b: WireContainerStatus[] | undefined,
  compared: ComparedMembers,
): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined || a.length !== b.length) return false;
  return a.every((status, index) => {
    const other = b[index];
    if (status === other) return true;
    return membersEqual(status as object as Members, other as object as Members, (key, x, y) =>
      containerMemberEqual(key, x, y, compared),
    );
  });
}

function containerMemberEqual(key: string, a: unknown, b: unknown, compared: ComparedMembers): boolean {
  if (a === b || isIgnored(key, containerStatusMembers, compared)) return true;
  if (key !== 'state' && key !== 'lastState') return valueEqual(a, b);
  return membersEqual((a ?? {}) as Members, (b ?? {}) as Members, (kind, x, y) => stateEqual(kind, x, y, compared));
}

/** One of the states of a container: `running`, for example. */
function stateEqual(kind: string, a: unknown, b: unknown, compared: ComparedMembers): boolean {
  const known = stateMembers.get(kind);
  if (known === undefined && compared === 'known') return true;
  if (!isObject(a) || !isObject(b)) return a === b;
  return membersEqual(a, b, (key, x, y) => valueEqual(x, y) || (known !== undefined && isIgnored(key, known, compared)));
}

function areSameAddresses(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  return a.every((address: { ip?: unknown }, index) => address.ip === b[index].ip);
}

function isIgnored(key: string, known: ReadonlySet<string>, compared: ComparedMembers): boolean {
  return compared === 'known' && !known.has(key);
}

type Conditions = readonly WirePodCondition[] | undefined;

/** Equality of the conditions that the kubelet owns or shares: their status, reason and message count, and unknown members. */
function conditionsEqual(
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

/** An object of a canonical status: it holds no undefined and no null. */
type Members = { readonly [key: string]: unknown };

/** Which members count: all, or only those that Kubernetes 1.36 knows. */
type ComparedMembers = 'all' | 'known';

/** True when `equal` holds for every member that either side has; each member is looked at once. */
function membersEqual(a: Members, b: Members, equal: (key: string, x: unknown, y: unknown) => boolean): boolean {
  for (const key in a) if (!equal(key, a[key], b[key])) return false;
  for (const key in b) if (a[key] === undefined && !equal(key, undefined, b[key])) return false;
  return true;
}

/** Deep equality of two canonical values. lodash.isequal sees only what the cheap comparisons leave. */
function valueEqual(a: unknown, b: unknown): boolean {
  return a === b || (isObject(a) && isObject(b) && isEqual(a, b));
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null;
}
