import { containerStatusMembers, podStatusMembers } from '../../api/json/status-members.ts';
import type { WireContainerStatus, WirePodStatus } from '../../api/json/types.ts';
import { conditionsEqual } from './condition-equality.ts';
import { foreignFields } from './foreign-fields.ts';
import { type ComparedMembers, isObject, type Members, membersEqual, valueEqual } from './members-equal.ts';
import { stateMembers } from './nested-members.ts';

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
