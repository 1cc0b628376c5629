import { podFields } from '../../api/pod/pod-log-fields.ts';
import { endedFailures } from '../../base/failure-run.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { RecoveryLines } from '../../base/logging/recovery-lines.ts';
import type { SchedulerCache } from '../cache/scheduler-cache.ts';
import type { SchedulerClient } from '../framework/scheduler-client.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { Preemptions } from '../preemption/executor.ts';
import type { Frameworks } from '../profile/profile-plugins.ts';
import type { ClusterChanges } from '../queue/cluster-changes.ts';
import type { QueuedPodInfo } from '../queue/queued-pod-info.ts';
import type { SchedulingQueue } from '../queue/scheduling-queue.ts';
import type { LastAttempts } from '../reports/last-attempts.ts';
import { errorFields } from '../reports/request-words.ts';
import type { SchedulerMetrics } from '../reports/scheduler-metrics.ts';
import { BindingCycles, type BindingCyclesOptions, type BindingEnd, BindingGivenUp } from './binding-cycles.ts';
import type { FailedAttempts } from './failed-attempts.ts';
import { wordsOfAttempt } from './failure-words.ts';
import type { PlacedPod, SchedulingCycle } from './scheduling-cycle.ts';

export interface PodAttemptsOptions extends Omit<BindingCyclesOptions, 'onEnd' | 'onPermitted'> {
  readonly frameworks: Frameworks;
  readonly queue: SchedulingQueue;
  readonly cache: SchedulerCache;
  readonly changes: ClusterChanges;
  readonly cycle: SchedulingCycle;
  readonly failures: FailedAttempts;
  readonly preemptions: Preemptions;
  readonly lastAttempts: LastAttempts;
  readonly metrics: SchedulerMetrics;
  readonly recoveries: RecoveryLines;
  readonly client: SchedulerClient;
  readonly logger: Logger;
}

type PodNames = Pick<PodInfo, 'uid' | 'namespace' | 'name'>;

const suspended = 'the scheduler was suspended';
/** Takes back a node that the pod was promised. */
const noPromise = { nominatedNodeName: '', message: '' };

/** Tries one pod after another, and does what follows from each attempt and from the end of each binding. */
export class PodAttempts {
  readonly bindings: BindingCycles;
  readonly #options: PodAttemptsOptions;
  #isSuspended = false;
  #bound = 0;
  #failed = 0;

  constructor(options: PodAttemptsOptions) {
    this.#options = options;
    const onEnd = (placed: PlacedPod, end: BindingEnd): void => {
      callGuarded(
        () => this.#bindingEnded(placed, end),
        (err) => this.#failedAt(placed.queued, err),
      );
    };
    this.bindings = new BindingCycles({ ...options, onEnd, onPermitted: ({ podInfo }) => options.queue.commit(podInfo.uid) });
  }

  get counts(): { readonly bound: number; readonly failedAttempts: number } {
    return { bound: this.#bound, failedAttempts: this.#failed };
  }

  get isSuspended(): boolean {
    return this.#isSuspended;
  }

  /** Gives up all that is under way. Until `resume` nothing is tried, and nothing is written of what has failed. */
  suspend(): void {
    this.#isSuspended = true;
    this.bindings.abortAll(suspended);
    this.#options.preemptions.abort(suspended);
    this.#options.writes.abort();
  }

  resume(): void {
    this.#isSuspended = false;
  }

  /** Tries the next pod. False where there is none. */
  tryNext(): boolean {
    const queued = this.#isSuspended ? undefined : this.#options.queue.pop();
    if (queued === undefined) return false;
    callGuarded(
      () => this.#try(queued),
      (err) => this.#failedAt(queued, err),
    );
    return true;
  }

  /** The pod is on its node, or gone: nothing of its attempts is of interest any more. */
  settled(uid: string): void {
    this.#options.lastAttempts.delete(uid);
    this.#options.writes.forget(uid);
    this.#options.preemptions.forget(uid);
  }

  /** The pod is on this node. */
  placed(pod: PodNames, node: string): void {
    const { lastAttempts, recoveries, logger, time } = this.#options;
    const last = lastAttempts.get(pod.uid);
    if (last?.isTold && recoveries.take()) {
      const ended = endedFailures(last, time.time());
      logger.info({ ...podFields(pod), node, ...ended }, 'a pod has its node, which could not be placed before');
    }
    this.settled(pod.uid);
  }

  #try(queued: QueuedPodInfo): void {
    const { frameworks, cache, queue, cycle, metrics, failures, preemptions } = this.#options;
    const { podInfo } = queued;
    const framework = frameworks.get(podInfo.pod.spec?.schedulerName ?? '');
    if (framework === undefined || podInfo.pod.metadata?.deletionTimestamp != null || cache.isAssumed(podInfo.uid)) {
      queue.done(podInfo.uid);
      return;
    }
    const attempt = cycle.begin(framework, queued);
    const outcome = cycle.run(attempt);
    metrics.chose(attempt.startedAt);
    if (outcome.placed !== undefined) {
      this.bindings.begin(outcome.placed, outcome.waits);
      return;
    }
    this.#failed += 1;
    const { error, made, nodeName } = outcome;
    // without a plugin that makes room, or where it failed, a promised node is taken back
    failures.add(attempt, { error, nodeName, made: made ?? noPromise });
    if (made?.actions !== undefined) {
      metrics.preempted(made.actions.length);
      preemptions.begin(podInfo, made.actions);
    }
  }

  #bindingEnded(placed: PlacedPod, end: BindingEnd): void {
    const { metrics, changes, queue, client, cycle, failures } = this.#options;
    const { podInfo, nodeName, framework, state } = placed;
    if (end.isBound) {
      this.#bound += 1;
      metrics.bound(placed.queued, framework.schedulerName, placed.startedAt);
      changes.podBound(podInfo, nodeName);
      queue.done(podInfo.uid);
      this.placed(podInfo, nodeName);
      const note = `Successfully assigned ${podInfo.key} to ${nodeName}`;
      client.event({ pod: podInfo.pod, type: 'Normal', reason: 'Scheduled', action: 'Binding', note });
      framework.binding.postBind(state, podInfo, nodeName);
      return;
    }
    this.#failed += 1;
    cycle.undo(placed);
    // its place is free for the others; a pod that was rejected is not helped by its own
    if (!end.isRejected) changes.placeGivenBack(podInfo, nodeName);
    const error = this.#isSuspended ? new BindingGivenUp(suspended) : end.error;
    failures.add(placed, { error, nodeName, made: noPromise });
    if (end.isRejected) changes.placeGivenBack(podInfo, nodeName, ({ uid }) => uid !== podInfo.uid);
  }

  /** Whatever fails at one pod, the others are tried all the same, and it comes back. */
  #failedAt({ podInfo }: QueuedPodInfo, err: unknown): void {
    const { logger, queue, lastAttempts, time } = this.#options;
    logger.error({ err, ...errorFields(err), ...podFields(podInfo) }, 'the scheduler has failed at a pod');
    const latest = queue.giveBack(podInfo.uid, { unschedulablePlugins: [], pendingPlugins: [] });
    if (latest === undefined) return;
    const words = wordsOfAttempt(err, undefined);
    lastAttempts.set(podInfo.uid, { at: time.time(), words, isTold: true, diagnosis: undefined, preemption: undefined });
  }
}
