import type { Pod } from '../../api/json/types.ts';
import { allContainerStatuses, generatePodReadyCondition } from './generate-conditions.ts';
import { getPodCondition, podConditionType } from './pod-conditions.ts';

/**
 * True when a readiness gate's condition was changed and the pod's Ready condition has not followed yet.
 * Only status and message count, not the reason; a pod without gates or without a Ready condition needs nothing.
 *
 * Upstream looks at the regular container statuses alone, so that a pod with a sidecar looks unknown, and is synced
 * again, for ever. Here the init container statuses count too.
 *
 * @example
 * ```ts
 * import { needToReconcilePodReadiness } from 'pod-status-manager';
 *
 * const conditions = [{ type: 'Ready', status: 'True' }, { type: 'example.com/gate', status: 'False' }];
 * const spec = { containers: [], readinessGates: [{ conditionType: 'example.com/gate' }] };
 * console.log(needToReconcilePodReadiness({ spec, status: { phase: 'Running', conditions } })); // true
 * ```
 */
export function needToReconcilePodReadiness(pod: Pod): boolean {
  if (!pod.spec?.readinessGates?.length) return false;
  const { status } = pod;
  const current = getPodCondition(status?.conditions, podConditionType.ready);
  if (current === undefined) return false;
  const wanted = generatePodReadyCondition(pod, status, status?.conditions, allContainerStatuses(status), status?.phase);
  return current.status !== wanted.status || (current.message ?? '') !== (wanted.message ?? '');
}
