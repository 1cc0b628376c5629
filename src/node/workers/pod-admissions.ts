import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import { problemFields } from '../../base/problem.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import { problemOfStatus } from '../../status/rules/status-problem.ts';
import type { StatusManager } from '../../status/status-manager.ts';

/** The answer to the question whether a pod that is new on this node may run here. A pod that is refused is Failed, for good. */
export type Admission = { readonly admit: true } | { readonly admit: false; readonly reason: string; readonly message: string };

/** True for what an embedder's function may answer. */
export function isAdmission(value: unknown): value is Admission {
  if (typeof value !== 'object' || value === null || !('admit' in value)) return false;
  if (value.admit === true) return true;
  if (value.admit !== false || !('reason' in value) || !('message' in value)) return false;
  return typeof value.reason === 'string' && value.reason !== '' && typeof value.message === 'string';
}

export interface PodAdmissionsOptions {
  readonly admitPod: ((pod: Pod, activePods: readonly Pod[]) => Admission) | undefined;
  readonly statusManager: Pick<StatusManager, 'setPodStatus'>;
  readonly eventRecorder: EventRecorder;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Asks whether pods may run that are new on this node. */
export class PodAdmissions {
  readonly #options: PodAdmissionsOptions;
  /** The uids of the pods of which nobody could say whether they may run. */
  readonly #waiting = new Set<string>();

  constructor(options: PodAdmissionsOptions) {
    this.#options = options;
  }

  /** True for a pod that has not begun, because nobody could say whether it may run. */
  awaits(podUID: string): boolean {
    return this.#waiting.has(podUID);
  }

  forget(podUID: string): void {
    this.#waiting.delete(podUID);
  }

  /** `refused`: the pod is Failed now, and an event says why. `waits`: nobody could say; it is to be asked for again. */
  ask(pod: Pod, others: () => readonly Pod[]): 'admitted' | 'refused' | 'waits' {
    const { admitPod, logger } = this.#options;
    if (admitPod === undefined) return 'admitted';
    const podUID = podUIDOf(pod);
    const activePods = others();
    let hasFailed = false;
    const answer: unknown = callGuarded(
      () => admitPod(pod, activePods),
      (err) => {
        hasFailed = true;
        logger.error({ err, ...podFields(pod.metadata) }, 'admitPod failed; the pod waits');
      },
    );
    if (!isAdmission(answer)) {
      this.#waiting.add(podUID);
      if (!hasFailed) logger.warn(podFields(pod.metadata), 'admitPod did not answer; the pod waits');
      return 'waits';
    }
    this.#waiting.delete(podUID);
    if (answer.admit) return 'admitted';
    this.#refuse(pod, answer.reason, answer.message);
    return 'refused';
  }

  #refuse(pod: Pod, reason: string, message: string): void {
    const { statusManager, eventRecorder, logger, metrics } = this.#options;
    eventRecorder.event(pod, 'Warning', reason, message);
    metrics.increment('kubelet_admission_rejections_total', { reason });
    const { qosClass } = pod.status ?? {};
    const status = { phase: 'Failed', reason, message: `Pod was rejected: ${message}` };
    const problem = problemFields(problemOfStatus(status) ?? {});
    logger.warn({ ...podFields(pod.metadata), reason: `${reason}: ${message}`, ...problem }, 'a pod may not run on this node');
    statusManager.setPodStatus(pod, qosClass === undefined ? status : { ...status, qosClass });
  }
}
