import type { WirePodStatus } from '../../../src/index.ts';

type Conditions = NonNullable<WirePodStatus['conditions']>;

/**
 * The status on a real server after a write of upstream's that turned `before` into `after` on the oracle's server. Our
 * manager's write must leave the same. A real server keeps its own qosClass, podIPs and observedGenerations when a patch
 * removes them (D9). A readiness that the merge has ended keeps its first time (D10). `cached` is the status that was written; undefined where it is not known.
 */
export function asOnARealServer(before: WirePodStatus, after: WirePodStatus, cached: WirePodStatus | undefined): WirePodStatus {
  const { qosClass, observedGeneration, podIPs } = before;
  const conditions = after.conditions?.map((condition) => keptCondition(condition, before.conditions, cached?.conditions));
  const keepsIPs = !after.podIPs?.length && podIPs?.length === 1 && podIPs[0]?.ip === after.podIP;
  return {
    ...after,
    ...(qosClass && !after.qosClass && { qosClass }),
    ...(observedGeneration && !after.observedGeneration && { observedGeneration }),
    ...(keepsIPs && { podIPs }),
    ...(conditions && { conditions }),
  };
}

function keptCondition(
  condition: Conditions[number],
  before: Conditions | undefined,
  cached: Conditions | undefined,
): Conditions[number] {
  const old = before?.find(({ type }) => type === condition.type);
  if (old === undefined) return condition;
  const observedGeneration = condition.observedGeneration || old.observedGeneration;
  const { lastTransitionTime, ...rest } = condition;
  const time = wasEndedBefore(condition, old, cached) ? old.lastTransitionTime : lastTransitionTime;
  return { ...rest, ...(observedGeneration && { observedGeneration }), ...(time && { lastTransitionTime: time }) };
}

/** D10: while the agent still says Ready, upstream's merge ends the readiness of an ended pod again at every batch. */
function wasEndedBefore(condition: Conditions[number], old: Conditions[number], cached: Conditions | undefined): boolean {
  const { type, status, reason } = condition;
  if ((type !== 'Ready' && type !== 'ContainersReady') || (reason !== 'PodFailed' && reason !== 'PodCompleted')) return false;
  if (old.status !== status || old.reason !== reason) return false;
  return cached?.find((said) => said.type === type)?.status !== status;
}
