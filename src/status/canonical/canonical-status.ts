import { podConditionMembers, podStatusMembers } from '../../api/json/status-members.ts';
import type { Pod, PodStatus, WirePodCondition, WirePodStatus } from '../../api/json/types.ts';
import { invalidArgument } from '../../base/errors.ts';
import { canonicalContainerStatus } from './canonical-container-status.ts';
import { canonicalMember } from './canonical-json.ts';
import { inSpecOrder, sortedByName } from './container-order.ts';
import { isObject, mapObjects, type Source } from './source.ts';

/** The bytes of termination messages a pod may carry; each container gets an equal share (MaxPodTerminationMessageLogLength). */
const maxTerminationMessageBytes = 1024 * 12;

/** How many bytes the termination message of one of the pod's containers may have. */
export function messageShare({ spec }: Pod): number {
  const containers =
    (spec?.containers?.length ?? 0) + (spec?.initContainers?.length ?? 0) + (spec?.ephemeralContainers?.length ?? 0);
  return containers === 0 ? maxTerminationMessageBytes : Math.floor(maxTerminationMessageBytes / containers);
}

/** Puts the lists of container statuses in order: by name, and init containers as the spec has them. Changes `canonical`. */
export function inCanonicalOrder(pod: Pod, canonical: WirePodStatus): WirePodStatus {
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
export function canonicalPodStatus(status: PodStatus, maxMessageBytes = Number.POSITIVE_INFINITY): WirePodStatus {
  const source = requireStatusObject(status);
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(source)) {
    const value = source[key];
    if (value === undefined || value === null || key === '__proto__') continue;
    const member = canonicalStatusMember(key, value, maxMessageBytes);
    if (member !== undefined) result[key] = member;
  }
  return result as WirePodStatus;
}

/** Throws ERR_INVALID_ARGUMENT for what holds no members. */
export function requireStatusObject(status: unknown): Source {
  if (!isObject(status)) throw invalidArgument('status', 'an object', status);
  return status;
}

/** One member of a status in canonical form; undefined for what Go would leave out. */
export function canonicalStatusMember(key: string, value: unknown, maxMessageBytes: number): unknown {
  switch (key) {
    case 'containerStatuses':
    case 'ephemeralContainerStatuses':
    case 'initContainerStatuses':
      return mapObjects(`status.${key}`, value, (source, index) =>
        canonicalContainerStatus(source, `status.${key}[${index}]`, maxMessageBytes),
      );
    case 'conditions':
      return mapObjects('status.conditions', value, canonicalCondition);
    default:
      return canonicalMember(podStatusMembers, key, value, 'status');
  }
}

/** The condition that stands at `index`, in canonical form. Type and status are always there. */
export function canonicalCondition(source: Source, index: number): WirePodCondition {
  const path = `status.conditions[${index}]`;
  if (typeof source.type !== 'string') throw invalidArgument(`${path}.type`, 'a string', source.type);
  const result: Record<string, unknown> & WirePodCondition = { type: source.type, status: '' };
  for (const key of Object.keys(source)) {
    if (key === '__proto__') continue;
    const member = canonicalMember(podConditionMembers, key, source[key], path);
    if (member !== undefined) result[key] = member;
  }
  return result;
}
