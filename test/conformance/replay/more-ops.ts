import {
  generatePodReadyCondition,
  needToReconcilePodReadiness,
  type Pod,
  type StatusManager,
  type WirePodCondition,
  type WirePodStatus,
} from '../../../src/index.ts';
import type { ResizeConditions, Step } from './replay-scenario.ts';

/** Plays an operation on resize conditions, or an agent's answer to a readiness gate that turned; the answer, as it is recorded. */
export function playMoreOp(manager: StatusManager, step: Step, podOf: (podUID: string) => Pod | undefined): unknown {
  const { podUID = '', podUIDs = [], reason = '', message = '', generation = 0 } = step;
  switch (step.op) {
    case 'setPodResizePendingCondition':
      return manager.resizes.setPodResizePendingCondition(podUID, reason, message, generation);
    case 'setPodResizeInProgressCondition':
      return manager.resizes.setPodResizeInProgressCondition(podUID, reason, message, generation);
    case 'clearPodResizePendingCondition':
      return manager.resizes.clearPodResizePendingCondition(podUID);
    case 'clearPodResizeInProgressCondition':
      return manager.resizes.clearPodResizeInProgressCondition(podUID);
    case 'backfillPodResizeConditions':
      return manager.resizes.backfillPodResizeConditions(podUIDs.map(podOf).filter((pod) => pod !== undefined));
    case 'reconcilePodReadiness':
      return reconcilePodReadiness(manager, podOf(podUID));
    default:
      throw new Error(`unknown op ${step.op}`);
  }
}

/** What an agent does with a changed pod: when a readiness gate has changed, it computes Ready again and sets the status. */
function reconcilePodReadiness(manager: StatusManager, pod: Pod | undefined): { needed: boolean; changed: boolean } {
  if (pod === undefined || !needToReconcilePodReadiness(pod)) return { needed: false, changed: false };
  const cached = manager.getPodStatus(pod.metadata?.uid ?? '');
  if (cached === undefined) return { needed: true, changed: false };
  const status = wire<WirePodStatus>(cached);
  const containers = status.containerStatuses ?? [];
  const ready = generatePodReadyCondition(pod, pod.status, pod.status?.conditions, containers, status.phase);
  const conditions = [...(status.conditions ?? [])];
  const index = conditions.findIndex(({ type }) => type === ready.type);
  conditions.splice(index < 0 ? conditions.length : index, 1, ready);
  return { needed: true, changed: manager.setPodStatus(pod, { ...status, conditions }) };
}

/** The status as an agent makes it: with the pod's resize conditions in front of the others. */
export function withResizeConditions(manager: StatusManager, podUID: string, status: WirePodStatus): WirePodStatus {
  const own = wire<WirePodCondition[]>(manager.resizes.getPodResizeConditions(podUID));
  return { ...status, conditions: [...own, ...(status.conditions ?? [])] };
}

export function resizeConditionsOf(manager: StatusManager, podUIDs: Iterable<string>): ResizeConditions {
  const byUID = [...podUIDs].map(
    (podUID) => [podUID, wire<WirePodCondition[]>(manager.resizes.getPodResizeConditions(podUID))] as const,
  );
  return Object.fromEntries(byUID.filter(([, list]) => list.length > 0));
}

/** What is read through the API, in the form it has on the wire. */
export function wire<T>(value: unknown): T {
  return JSON.parse(JSON.stringify(value).replaceAll(/\.000Z"/g, 'Z"'));
}
