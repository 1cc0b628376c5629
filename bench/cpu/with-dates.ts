import type { PodStatus } from '../../src/index.ts';

const timeFields = new Set(['startTime', 'lastProbeTime', 'lastTransitionTime', 'startedAt', 'finishedAt']);

/** The same status in the form of client-node's classes: a `Date` where the wire has text. */
export function withDates(status: PodStatus): PodStatus {
  return JSON.parse(JSON.stringify(status), (key, value: unknown) =>
    timeFields.has(key) && typeof value === 'string' ? new Date(value) : value,
  );
}
