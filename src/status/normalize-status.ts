import type { Pod, PodStatus, WireContainerStatus, WirePodCondition, WirePodStatus } from '../api/wire.ts';
import { invalidArgument } from '../errors.ts';
import { canonicalContainerStatus } from './canonical-container-status.ts';
import { canonicalMember, isObject, type Source } from './canonical-json.ts';

/** The bytes of termination messages a pod may carry; each container gets an equal share (MaxPodTerminationMessageLogLength). */
const maxTerminationMessageBytes = 1024 * 12;

/**
 * A copy of `status` in the one canonical form used for equality, merge and patch: wire JSON with whole-second times,
 * sorted container statuses, termination messages cut to their share, nothing undefined and no empty list.
 * Idempotent. Throws ERR_INVALID_ARGUMENT for a value that is no status; never changes its input.
 *
 * Behaviour of pkg/kubelet/status normalizeStatus, v1.36.3, but for messages: they are cut between characters.
 */
export function normalizeStatus(pod: Pod, status: PodStatus): WirePodStatus {
  if (!isObject(status)) throw invalidArgument('status', 'an object', status);
  const maxMessageBytes = messageShare(pod);
  const source: Source = status as object as Source;
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(source)) {
    const value = source[key];
    if (value === undefined || value === null || key === '__proto__') continue;
    const member = normalizeMember(pod, key, value, maxMessageBytes);
    if (member !== undefined) result[key] = member;
  }
  return result as WirePodStatus;
}

function normalizeMember(pod: Pod, key: string, value: unknown, maxMessageBytes: number): unknown {
  const path = `status.${key}`;
  switch (key) {
    case 'containerStatuses':
    case 'ephemeralContainerStatuses':
      return normalizeContainerStatuses(value, path, maxMessageBytes)?.sort(byName);
    case 'initContainerStatuses': {
      const list = normalizeContainerStatuses(value, path, maxMessageBytes);
      return list && sortInitContainerStatuses(list, pod.spec?.initContainers ?? []);
    }
    case 'conditions':
      return mapList(value, path, normalizeCondition);
    default:
      return canonicalMember(key, value, path);
  }
}

function messageShare(pod: Pod): number {
  const spec = pod.spec;
  const containers =
    (spec?.containers?.length ?? 0) + (spec?.initContainers?.length ?? 0) + (spec?.ephemeralContainers?.length ?? 0);
  return containers === 0 ? maxTerminationMessageBytes : Math.floor(maxTerminationMessageBytes / containers);
}

function mapList<T>(value: unknown, path: string, convert: (source: Source, path: string) => T): T[] | undefined {
  if (!Array.isArray(value)) throw invalidArgument(path, 'a list', value);
  if (value.length === 0) return undefined;
  return value.map((item: unknown, index) => {
    if (!isObject(item)) throw invalidArgument(`${path}[${index}]`, 'an object', item);
    return convert(item, `${path}[${index}]`);
  });
}

function normalizeContainerStatuses(value: unknown, path: string, maxMessageBytes: number): WireContainerStatus[] | undefined {
  return mapList(value, path, (source, itemPath) => canonicalContainerStatus(source, itemPath, maxMessageBytes));
}

function normalizeCondition(source: Source, path: string): WirePodCondition {
  if (typeof source.type !== 'string') throw invalidArgument(`${path}.type`, 'a string', source.type);
  const result: Record<string, unknown> & WirePodCondition = { type: source.type, status: '' };
  for (const key of Object.keys(source)) {
    if (key === '__proto__') continue;
    const member = canonicalMember(key, source[key], `${path}.${key}`);
    if (member !== undefined) result[key] = member;
  }
  return result;
}

function byName(a: WireContainerStatus, b: WireContainerStatus): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** Spec order; statuses the spec does not name end up behind, as upstream's swaps leave them. */
function sortInitContainerStatuses(
  statuses: WireContainerStatus[],
  spec: readonly { readonly name: string }[],
): WireContainerStatus[] {
  let next = 0;
  for (const { name } of spec) {
    const found = statuses.findIndex((status, index) => index >= next && status.name === name);
    const other = statuses[next];
    const match = statuses[found];
    if (match === undefined || other === undefined) continue;
    statuses[next] = match;
    statuses[found] = other;
    next++;
  }
  return statuses;
}
