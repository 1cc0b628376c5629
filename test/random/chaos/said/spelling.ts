import type { PodStatus, WirePodStatus } from '../../../../src/index.ts';
import type { Prng } from '../prng.ts';

const timeMembers: ReadonlySet<string> = new Set(['startTime', 'lastTransitionTime', 'startedAt', 'finishedAt']);

/** The same status as another agent might write it: lists in another order, times with fractions or as `Date`, empty members. */
export function spelled(status: WirePodStatus, prng: Prng): PodStatus {
  if (prng.chance(0.5)) return status;
  const { containerStatuses = [], initContainerStatuses } = status;
  const fractions = prng.int(0, 999);
  const withTimes = (value: unknown, member: string): unknown => {
    if (typeof value === 'string' && timeMembers.has(member)) {
      const time = new Date(Date.parse(value) + fractions);
      return fractions % 2 === 0 ? time : time.toISOString();
    }
    if (Array.isArray(value)) return value.map((item) => withTimes(item, ''));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withTimes(inner, key)]));
  };
  return {
    ...status,
    reason: status.reason ?? '',
    ephemeralContainerStatuses: [],
    conditions: withTimes(status.conditions, ''),
    containerStatuses: withTimes(prng.shuffled(containerStatuses), ''),
    initContainerStatuses: initContainerStatuses && withTimes(prng.shuffled(initContainerStatuses), ''),
  } as PodStatus;
}
