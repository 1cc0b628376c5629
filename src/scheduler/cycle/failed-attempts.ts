// Behaviour of pkg/scheduler/schedule_one.go handleSchedulingFailure, v1.36.3.

import { podFields } from '../../api/pod/pod-log-fields.ts';
import { errorText } from '../../base/errors.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { Nominator } from '../cache/nominator.ts';
import { FitError } from '../framework/fit-error.ts';
import type { SchedulerClient } from '../framework/scheduler-client.ts';
import type { SteadyTime } from '../queue/backoff-queue.ts';
import type { SchedulingQueue } from '../queue/scheduling-queue.ts';
import type { LastAttempts } from '../reports/explain-pod.ts';
import type { SchedulerMetrics } from '../reports/scheduler-metrics.ts';
import { NoNodesError } from './algorithm.ts';
import { BindingGivenUp, BindingPreempted } from './binding-cycles.ts';
import type { Attempt } from './scheduling-cycle.ts';
import type { StatusWrites } from './status-writes.ts';

export interface FailedAttemptsOptions {
  readonly queue: SchedulingQueue;
  readonly nominator: Nominator;
  readonly client: SchedulerClient;
  readonly writes: StatusWrites;
  readonly lastAttempts: LastAttempts;
  readonly metrics: SchedulerMetrics;
  readonly time: SteadyTime;
  readonly logger: Logger;
}

/** What follows from an attempt that failed: the pod goes back into the queue, and people are told why, unless the scheduler gave it up itself. */
export class FailedAttempts {
  readonly #options: FailedAttemptsOptions;

  constructor(options: FailedAttemptsOptions) {
    this.#options = options;
  }

  /** `nominatedNodeName`: an empty text takes a promised node back, undefined leaves it. */
  add({ podInfo, framework, startedAt }: Attempt, error: unknown, nominatedNodeName: string | undefined): void {
    const { queue, nominator, client, writes, lastAttempts, metrics, time, logger } = this.#options;
    const isRejected = error instanceof FitError || error instanceof NoNodesError;
    metrics.attempted(isRejected ? 'unschedulable' : 'error', framework.schedulerName, startedAt);
    const latest = queue.giveBack(podInfo.uid, rejectorsOf(error));
    const isGivenUp = error instanceof BindingGivenUp;
    const fields = { ...podFields(podInfo), err: error };
    if (isRejected) logger.debug(fields, 'a pod fits on no node');
    else if (isGivenUp || error instanceof BindingPreempted) logger.debug(fields, 'the binding of a pod was given up');
    else logger.warn(fields, 'a pod could not be placed');
    // it is gone, or has a node
    if (latest === undefined) {
      lastAttempts.delete(podInfo.uid);
      return;
    }
    lastAttempts.set(podInfo.uid, time.time(), error);
    if (nominatedNodeName === undefined) nominator.set(latest);
    else nominator.nominate(latest, nominatedNodeName);
    // another scheduler may have it by now
    if (isGivenUp) return;
    const { pod } = latest;
    const message = errorText(error);
    client.event({ pod, type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', note: message });
    const reason = isRejected ? 'Unschedulable' : 'SchedulerError';
    writes.write(pod, {
      condition: { type: 'PodScheduled', status: 'False', reason, message },
      ...(nominatedNodeName !== undefined && { nominatedNodeName }),
    });
  }
}

function rejectorsOf(error: unknown): { readonly unschedulablePlugins: string[]; readonly pendingPlugins: string[] } {
  if (!(error instanceof FitError)) return { unschedulablePlugins: [], pendingPlugins: [] };
  const { rejectors, pending } = error.diagnosis;
  return { unschedulablePlugins: [...rejectors].filter((plugin) => !pending.has(plugin)), pendingPlugins: [...pending] };
}
