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
  const canonical = canonicalPodStatus(status, messageShare(pod));
  canonical.containerStatuses?.sort(byName);
  canonical.ephemeralContainerStatuses?.sort(byName);
  if (canonical.initContainerStatuses) sortInitContainerStatuses(canonical.initContainerStatuses, pod.spec?.initContainers ?? []);
  return canonical;
}

/**
 * A copy of `status` as wire JSON without anything undefined or empty, but in the order, and with the messages, it has.
 * What a patch is computed against: the lists as they stand on the apiserver. Throws ERR_INVALID_ARGUMENT.
 */
export function canonicalPodStatus(status: PodStatus, maxMessageBytes = Number.POSITIVE_INFINITY): WirePodStatus {
  if (!isObject(status)) throw invalidArgument('status', 'an object', status);
  const source: Source = status as object as Source;
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(source)) {
    const value = source[key];
    if (value === undefined || value === null || key === '__proto__') continue;
    const member = canonicalStatusMember(key, value, maxMessageBytes);
    if (member !== undefined) result[key] = member;
  }
  return result as WirePodStatus;
}

function canonicalStatusMember(key: string, value: unknown, maxMessageBytes: number): unknown {
  const path = `status.${key}`;
  switch (key) {
    case 'containerStatuses':
    case 'ephemeralContainerStatuses':
    case 'initContainerStatuses':
      return mapList(value, path, (source, itemPath) => canonicalContainerStatus(source, itemPath, maxMessageBytes));
    case 'conditions':
      return mapList(value, path, canonicalCondition);
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

function canonicalCondition(source: Source, path: string): WirePodCondition {
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
function sortInitContainerStatuses(statuses: WireContainerStatus[], spec: readonly { readonly name: string }[]): void {
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
}
