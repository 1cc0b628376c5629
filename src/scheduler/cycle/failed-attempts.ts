// Behaviour of pkg/scheduler/schedule_one.go handleSchedulingFailure, v1.36.3.
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { Clock } from '../../base/clock.ts';
import { errorText } from '../../base/errors.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { type PodProblem, problemFields } from '../../base/problem.ts';
import type { Nominator } from '../cache/nominator.ts';
import { FitError } from '../framework/fit-error.ts';
import { evictionsOf, type PostFilterAnswer } from '../framework/plugin.ts';
import type { SchedulerClient } from '../framework/scheduler-client.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { SteadyTime } from '../queue/backoff-queue.ts';
import type { SchedulingQueue } from '../queue/scheduling-queue.ts';
import type { FailedAttempt, LastAttempts } from '../reports/last-attempts.ts';
import { errorFields } from '../reports/request-words.ts';
import type { SchedulerMetrics } from '../reports/scheduler-metrics.ts';
import { NoNodesError } from './algorithm.ts';
import { BindingGivenUp, BindingPreempted } from './binding-cycles.ts';
import { wordsOfAttempt } from './failure-words.ts';
import type { Attempt } from './scheduling-cycle.ts';
import type { StatusWrites } from './status-writes.ts';

export interface FailedAttemptsOptions {
  readonly queue: SchedulingQueue;
  readonly nominator: Nominator;
  readonly client: SchedulerClient;
  readonly writes: StatusWrites;
  readonly lastAttempts: LastAttempts;
  readonly metrics: SchedulerMetrics;
  readonly clock: Clock;
  readonly time: SteadyTime;
  readonly logger: Logger;
  /** What is known of a pod, for its line in the log. */
  readonly explain: (podUID: string) => { readonly problem: PodProblem | undefined };
}

/** How an attempt failed. */
export interface Failure {
  readonly error: unknown;
  /** The node that the pod had by then. */
  readonly nodeName: string | undefined;
  /** What came of the search for room: the node that the pod is promised, an empty text to take a promise back, or neither. */
  readonly made: PostFilterAnswer | undefined;
}

/** What follows from an attempt that failed: the pod goes back into the queue, and people are told why, unless the scheduler gave it up itself. */
export class FailedAttempts {
  readonly #options: FailedAttemptsOptions;

  constructor(options: FailedAttemptsOptions) {
    this.#options = options;
  }

  add({ podInfo, framework, startedAt }: Attempt, { error, nodeName, made }: Failure): void {
    const { queue, nominator, client, writes, lastAttempts, metrics, time } = this.#options;
    const { uid } = podInfo;
    const isRejected = isRejection(error);
    metrics.attempted(isRejected ? 'unschedulable' : 'error', framework.schedulerName, startedAt);
    const latest = queue.giveBack(uid, rejectorsOf(error));
    // without one it is gone, or has a node
    if (latest === undefined) lastAttempts.delete(uid);
    else {
      const words = wordsOfAttempt(error, nodeName);
      lastAttempts.set(uid, { at: time.time(), words, isTold: isFault(error), ...madeOf(error, made) });
    }
    this.#log(podInfo, error, nodeName);
    if (latest === undefined) return;
    // of what was given up nothing is written, so what the status says counts, as after a restart
    const nominatedNodeName = error instanceof BindingGivenUp ? undefined : made?.nominatedNodeName;
    if (nominatedNodeName === undefined) nominator.set(latest);
    else nominator.nominate(latest, nominatedNodeName);
    // another scheduler may have it by now
    if (error instanceof BindingGivenUp) return;
    const { pod } = latest;
    const message = errorText(error);
    client.event({ pod, type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', note: message });
    const reason = isRejected ? 'Unschedulable' : 'SchedulerError';
    writes.write(pod, {
      condition: { type: 'PodScheduled', status: 'False', reason, message },
      ...(nominatedNodeName !== undefined && { nominatedNodeName }),
    });
  }

  #log(podInfo: PodInfo, error: unknown, nodeName: string | undefined): void {
    const { logger, clock, explain } = this.#options;
    const fields = { ...podFields(podInfo), ...(nodeName !== undefined && { node: nodeName }), err: error };
    if (isRejection(error)) {
      // a cluster without room has very many of them: nothing is worked out for a line that is rarely written
      logger.debug(fields, 'a pod fits on no node');
    } else if (!isFault(error)) {
      logger.debug(fields, 'the binding of a pod was given up');
    } else {
      const { problem } = explain(podInfo.uid);
      const told = { ...fields, ...errorFields(error), ...(problem !== undefined && problemFields(problem, clock.now())) };
      logger.warn(told, 'a pod could not be placed');
    }
  }
}

function isRejection(error: unknown): boolean {
  return error instanceof FitError || error instanceof NoNodesError;
}

/** True for what no scheduler wants: no want of room, and nothing that the scheduler gave up itself. */
function isFault(error: unknown): boolean {
  return !(isRejection(error) || error instanceof BindingGivenUp || error instanceof BindingPreempted);
}

/** The victims that a pod waits for; `kept` where a node that it was promised stays so. */
function madeOf(error: unknown, made: PostFilterAnswer | undefined): Pick<FailedAttempt, 'diagnosis' | 'preemption'> {
  if (!(error instanceof FitError)) return { diagnosis: undefined, preemption: undefined };
  const { nominatedNodeName, actions } = made ?? {};
  const evictions = evictionsOf(actions);
  const [first] = evictions;
  const { diagnosis } = error;
  if (first === undefined) return { diagnosis, preemption: nominatedNodeName === undefined ? 'kept' : undefined };
  const victims = evictions.map(({ victim }) => victim);
  return { diagnosis, preemption: { nodeName: first.nodeName, victims } };
}

function rejectorsOf(error: unknown): { readonly unschedulablePlugins: string[]; readonly pendingPlugins: string[] } {
  if (!(error instanceof FitError)) return { unschedulablePlugins: [], pendingPlugins: [] };
  const { rejectors, pending } = error.diagnosis;
  return { unschedulablePlugins: [...rejectors].filter((plugin) => !pending.has(plugin)), pendingPlugins: [...pending] };
}
