import type { WirePodStatus } from '../../../src/index.ts';
import type { Scenario } from './replay-scenario.ts';
import { batches, utcSecond } from './seconds.ts';

export function disruptionTime(status: WirePodStatus | undefined): string | undefined {
  return status?.conditions?.find(({ type }) => type === 'DisruptionTarget')?.lastTransitionTime || undefined;
}

/** A status without the time of its DisruptionTarget. */
export function withoutDisruptionTime(status: WirePodStatus): WirePodStatus {
  const conditions = status.conditions?.map((condition) => {
    const { lastTransitionTime: _, ...rest } = condition;
    return condition.type === 'DisruptionTarget' ? rest : condition;
  });
  return conditions === undefined ? status : { ...status, conditions };
}

/**
 * The times that upstream's merge may have written into the cached DisruptionTarget of a pod, by "namespace/name": the
 * seconds at which upstream asked the server for the pod, and the times of the condition on the server.
 */
export function disruptionTimes({ start, steps }: Scenario): ReadonlyMap<string, ReadonlySet<string | undefined>> {
  const times = new Map<string, Set<string | undefined>>();
  const add = (pod: string, time: string | undefined): void => {
    times.set(pod, (times.get(pod) ?? new Set()).add(time));
  };
  const began = Date.parse(start);
  let now = began;
  for (const { op, pod, seconds = 0, expect } of steps) {
    const before = now;
    now += seconds * 1000;
    const moments = op === 'advance' ? batches(began, before, now) : [now];
    for (const { namespace, name } of expect.calls ?? [])
      for (const moment of moments) add(`${namespace}/${name}`, utcSecond(moment));
    for (const [name, { status }] of Object.entries(expect.server ?? {})) add(name, disruptionTime(status));
    if (pod?.metadata !== undefined) add(`${pod.metadata.namespace}/${pod.metadata.name}`, disruptionTime(pod.status));
  }
  return times;
}
