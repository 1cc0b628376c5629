import { hasTransitionTimeRule } from '../../conditions/pod-conditions.ts';
import { invalidArgument } from '../../errors.ts';
import type { Pod, PodStatus, WireContainerStatus, WirePodCondition, WirePodStatus } from '../../wire/types.ts';
import { canonicalContainerStatus } from './canonical-container-status.ts';
import { canonicalMember, isObject, type Source } from './canonical-json.ts';
import { isSameCondition, isSameContainerStatus, saysTheSame } from './same-as-canonical.ts';

/** The bytes of termination messages a pod may carry; each container gets an equal share (MaxPodTerminationMessageLogLength). */
const maxTerminationMessageBytes = 1024 * 12;

/**
 * What a copy may share with the status before it, which is canonical and never changed: whatever says the same there.
 * A start time and a generation that the new status lacks may stay: they are to be those of the status before.
 */
export interface Sharing {
  readonly previous: WirePodStatus | undefined;
  /** Types whose transition time follows from `previous`, so that the time at hand does not count; beside the kubelet's. */
  readonly ownedConditionTypes?: ReadonlySet<string> | undefined;
}

/**
 * A copy of `status` in the one canonical form used for equality, merge and patch: wire JSON with whole-second times,
 * sorted container statuses, termination messages cut to their share, nothing undefined and no empty list.
 * Idempotent. Throws ERR_INVALID_ARGUMENT for a value that is no status; never changes its input.
 *
 * Behaviour of pkg/kubelet/status normalizeStatus, v1.36.3, but for messages: they are cut between characters.
 */
export function normalizeStatus(pod: Pod, status: PodStatus, sharing?: Sharing): WirePodStatus {
  const canonical = canonicalPodStatus(status, messageShare(pod), sharing);
  const { containerStatuses, ephemeralContainerStatuses, initContainerStatuses } = canonical;
  if (containerStatuses) canonical.containerStatuses = sortedByName(containerStatuses);
  if (ephemeralContainerStatuses) canonical.ephemeralContainerStatuses = sortedByName(ephemeralContainerStatuses);
  if (initContainerStatuses) {
    canonical.initContainerStatuses = inSpecOrder(initContainerStatuses, pod.spec?.initContainers ?? []);
  }
  return canonical;
}

/**
 * A copy of `status` as wire JSON without anything undefined or empty, but in the order, and with the messages, it has.
 * What a patch is computed against: the lists as they stand on the apiserver. Throws ERR_INVALID_ARGUMENT.
 */
export function canonicalPodStatus(
  status: PodStatus,
  maxMessageBytes = Number.POSITIVE_INFINITY,
  sharing?: Sharing,
): WirePodStatus {
  if (!isObject(status)) throw invalidArgument('status', 'an object', status);
  const source: Source = status as object as Source;
  const previous = sharing?.previous as Source | undefined;
  const result = beginLike(previous, source);
  for (const key of Object.keys(source)) {
    const value = source[key];
    if (value === undefined || value === null || key === '__proto__') continue;
    const member = canonicalStatusMember(key, value, previous?.[key], maxMessageBytes, sharing);
    if (member !== undefined) result[key] = member;
    else if (result[key] !== undefined) delete result[key];
  }
  return result as WirePodStatus;
}

/** A status with the members of the one before begins as its copy, which is cheaper than to begin with nothing. */
function beginLike(previous: Source | undefined, source: Source): Record<string, unknown> {
  if (previous === undefined) return {};
  for (const key in previous) {
    if (key !== 'startTime' && key !== 'observedGeneration' && (source[key] ?? undefined) === undefined) return {};
  }
  return { ...previous };
}

function canonicalStatusMember(
  key: string,
  value: unknown,
  previous: unknown,
  maxMessageBytes: number,
  sharing: Sharing | undefined,
): unknown {
  switch (key) {
    case 'containerStatuses':
    case 'ephemeralContainerStatuses':
    case 'initContainerStatuses':
      return containerStatuses(key, value, previous as WireContainerStatus[] | undefined, maxMessageBytes);
    case 'conditions':
      return conditions(value, sharing);
    default:
      return previous !== undefined && saysTheSame(value, previous) ? previous : canonicalMember(key, value, 'status');
  }
}

function containerStatuses(
  key: string,
  value: unknown,
  previous: WireContainerStatus[] | undefined,
  maxMessageBytes: number,
): WireContainerStatus[] | undefined {
  return mapList(`status.${key}`, value, previous, (source, index, path) => {
    const before = sameNamed(previous, source.name, index);
    if (before !== undefined && isSameContainerStatus(source, before, maxMessageBytes)) return before;
    return canonicalContainerStatus(source, `${path}[${index}]`, maxMessageBytes, before);
  });
}

/** Nearly always the one in the same place. */
function sameNamed(list: WireContainerStatus[] | undefined, name: unknown, index: number): WireContainerStatus | undefined {
  const guess = list?.[index];
  return guess === undefined || guess.name === name ? guess : list?.find((status) => status.name === name);
}

function conditions(value: unknown, sharing: Sharing | undefined): WirePodCondition[] | undefined {
  const previous = sharing?.previous?.conditions;
  return mapList('status.conditions', value, previous, (source, index, path) => {
    const before = previous?.[index];
    return before !== undefined && sharing !== undefined && maySharePlace(value as Source[], index, source, before, sharing)
      ? before
      : canonicalCondition(source, `${path}[${index}]`);
  });
}

/** Of a type that stands twice only the first one's time follows from the status before. */
function maySharePlace(
  list: readonly Source[],
  index: number,
  source: Source,
  before: WirePodCondition,
  sharing: Sharing,
): boolean {
  if (source.type !== before.type) return false;
  if (!hasTransitionTimeRule(before.type) && !sharing.ownedConditionTypes?.has(before.type)) return saysTheSame(source, before);
  for (let i = 0; i < index; i++) {
    if (list[i]?.type === before.type || sharing.previous?.conditions?.[i]?.type === before.type) return false;
  }
  return isSameCondition(source, before);
}

function messageShare(pod: Pod): number {
  const spec = pod.spec;
  const containers =
    (spec?.containers?.length ?? 0) + (spec?.initContainers?.length ?? 0) + (spec?.ephemeralContainers?.length ?? 0);
  return containers === 0 ? maxTerminationMessageBytes : Math.floor(maxTerminationMessageBytes / containers);
}

/** The list, or `previous` itself where every element is the one it has in that place. Undefined for an empty list. */
function mapList<T>(
  path: string,
  value: unknown,
  previous: T[] | undefined,
  convert: (source: Source, index: number, path: string) => T,
): T[] | undefined {
  if (!Array.isArray(value)) throw invalidArgument(path, 'a list', value);
  if (value.length === 0) return undefined;
  let same = previous?.length === value.length;
  const list = value.map((item: unknown, index) => {
    if (!isObject(item)) throw invalidArgument(`${path}[${index}]`, 'an object', item);
    const converted = convert(item, index, path);
    same &&= converted === previous?.[index];
    return converted;
  });
  return same ? previous : list;
}

function canonicalCondition(source: Source, path: string): WirePodCondition {
  if (typeof source.type !== 'string') throw invalidArgument(`${path}.type`, 'a string', source.type);
  const result: Record<string, unknown> & WirePodCondition = { type: source.type, status: '' };
  for (const key of Object.keys(source)) {
    if (key === '__proto__') continue;
    const member = canonicalMember(key, source[key], path);
    if (member !== undefined) result[key] = member;
  }
  return result;
}

/** The list itself where it is in order already: it may be shared. */
function sortedByName(statuses: WireContainerStatus[]): WireContainerStatus[] {
  const inOrder = statuses.every((status, index) => index === 0 || (statuses[index - 1]?.name ?? '') <= status.name);
  return inOrder ? statuses : statuses.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** Spec order; statuses the spec does not name end up behind, as upstream's swaps leave them. */
function inSpecOrder(statuses: WireContainerStatus[], spec: readonly { readonly name: string }[]): WireContainerStatus[] {
  const ordered = [...statuses];
  let next = 0;
  for (const { name } of spec) {
    const found = ordered.findIndex((status, index) => index >= next && status.name === name);
    const other = ordered[next];
    const match = ordered[found];
    if (match === undefined || other === undefined) continue;
    ordered[next] = match;
    ordered[found] = other;
    next++;
  }
  return ordered.every((status, index) => status === statuses[index]) ? statuses : ordered;
}
