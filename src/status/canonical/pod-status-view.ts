import type { V1PodCondition, V1PodStatus } from '@kubernetes/client-node';
import type { Json, WirePodCondition, WirePodStatus } from '../../wire/types.ts';
import { isObject } from './source.ts';

const timeFields: ReadonlySet<string> = new Set(['startTime', 'lastProbeTime', 'lastTransitionTime', 'startedAt', 'finishedAt']);

/** A frozen copy as client-node types it: `Date` where the wire has text. */
export function podStatusView(status: WirePodStatus): V1PodStatus {
  return viewOf('', status as Json) as V1PodStatus;
}

/** {@link podStatusView} of one condition. */
export function podConditionView(condition: WirePodCondition): V1PodCondition {
  return viewOf('', condition as Json) as V1PodCondition;
}

function viewOf(key: string, value: Json | undefined): unknown {
  if (typeof value === 'string') return timeFields.has(key) ? Object.freeze(new Date(value)) : value;
  if (Array.isArray(value)) return Object.freeze(value.map((item) => viewOf('', item)));
  if (!isObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const member of Object.keys(value)) copy[member] = viewOf(member, value[member]);
  return Object.freeze(copy);
}
