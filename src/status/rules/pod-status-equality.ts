import isEqual from 'lodash.isequal';
import { isOwnedConditionType, isSharedConditionType } from '../../conditions/pod-conditions.ts';
import type { WireContainerStatus, WirePodCondition, WirePodStatus } from '../../wire/types.ts';
import { foreignFields } from './foreign-fields.ts';

const foreign: ReadonlySet<string> = new Set(foreignFields);

type Fields = { readonly [key: string]: unknown };

/**
 * True when the two canonical statuses say the same as far as the kubelet is concerned: conditions of other owners,
 * condition times and claim statuses do not count. Both sides must have gone through `normalizeStatus`.
 *
 * Behaviour of pkg/kubelet/status isPodStatusByKubeletEqual, v1.36.3. Cheap comparisons come first;
 * lodash.isequal sees only what they leave.
 */
export function isPodStatusByKubeletEqual(a: WirePodStatus, b: WirePodStatus, owned?: ReadonlySet<string>): boolean {
  if (a === b) return true;
  return conditionsEqual(a.conditions, b.conditions, owned) && membersEqual(a as Fields, b as Fields, statusMemberEqual);
}

function statusMemberEqual(key: string, a: unknown, b: unknown): boolean {
  switch (key) {
    case 'conditions':
      return true;
    case 'containerStatuses':
    case 'initContainerStatuses':
    case 'ephemeralContainerStatuses':
      return containerStatusesEqual(a as WireContainerStatus[] | undefined, b as WireContainerStatus[] | undefined);
    default:
      return foreign.has(key) || valueEqual(a, b);
  }
}

function containerStatusesEqual(a: WireContainerStatus[] | undefined, b: WireContainerStatus[] | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined || a.length !== b.length) return false;
  return a.every((status, index) => {
    const other = b[index];
    return status === other || membersEqual(status as object as Fields, other as object as Fields, containerMemberEqual);
  });
}

function containerMemberEqual(key: string, a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (key !== 'state' && key !== 'lastState') return valueEqual(a, b);
  return membersEqual((a ?? {}) as Fields, (b ?? {}) as Fields, (_, x, y) =>
    isFields(x) && isFields(y) ? membersEqual(x, y, (_key, u, v) => valueEqual(u, v)) : x === y,
  );
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

function valueEqual(a: unknown, b: unknown): boolean {
  return a === b || (isFields(a) && isFields(b) && isEqual(a, b));
}

/** Both sides' members, each looked at once; canonical objects hold no undefined. */
function membersEqual(a: Fields, b: Fields, equal: (key: string, x: unknown, y: unknown) => boolean): boolean {
  for (const key in a) if (!equal(key, a[key], b[key])) return false;
  for (const key in b) if (a[key] === undefined && !equal(key, undefined, b[key])) return false;
  return true;
}

function conditionsEqual(
  a: readonly WirePodCondition[] | undefined,
  b: readonly WirePodCondition[] | undefined,
  owned: ReadonlySet<string> | undefined,
): boolean {
  return a === b || (coversConditions(a, b, owned) && coversConditions(b, a, owned));
}

/** True when `list` has every condition of `wanted` that counts, and says the same in it. */
function coversConditions(
  wanted: readonly WirePodCondition[] | undefined,
  list: readonly WirePodCondition[] | undefined,
  owned: ReadonlySet<string> | undefined,
): boolean {
  for (let i = 0; wanted !== undefined && i < wanted.length; i++) {
    const type = wanted[i]?.type ?? '';
    if (wanted[i] === list?.[i] && wanted.length === list?.length) {
      // shared by both lists; a later one of its type is looked at when its turn comes
      continue;
    }
    if (!(isOwnedConditionType(type, owned) || isSharedConditionType(type))) continue;
    const x = lastOfType(wanted, type);
    const y = lastOfType(list, type);
    if (y === undefined || x?.status !== y.status || x.reason !== y.reason || x.message !== y.message) return false;
  }
  return true;
}

/** Of a type that stands twice the later one counts, as upstream's map has it. */
function lastOfType(conditions: readonly WirePodCondition[] | undefined, type: string): WirePodCondition | undefined {
  return conditions?.findLast((condition) => condition.type === type);
}
