import { podFields } from '../../api/pod/pod-log-fields.ts';
import { endedFailures } from '../../base/failure-run.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { RecoveryLines } from '../../base/logging/recovery-lines.ts';
import type { SchedulerCache } from '../cache/scheduler-cache.ts';
import type { BindingRunner } from '../framework/binding-runner.ts';
import { evictionsOf } from '../framework/plugin.ts';
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
import type { Attempt, AttemptOutcome, PlacedPod, SchedulingCycle } from './scheduling-cycle.ts';

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
const stopped = 'the scheduler was stopped';
const isGone = 'the pod is gone, is being deleted, or has a node';

/** The attempt that waits for extenders. */
interface AwaitedAttempt {
  readonly uid: string;
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

/** Takes back a node that the pod was promised. */
const noPromise = { nominatedNodeName: '', message: '' };

/**
 * Tries one pod after another, and does what follows from each attempt and from the end of each binding. While an attempt waits for
 * extenders, no other one begins.
 */
export class PodAttempts {
  readonly bindings: BindingCycles;
  readonly #options: PodAttemptsOptions;
  #awaited: AwaitedAttempt | undefined;
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

  /** True while an attempt waits for extenders, or a binding is under way, or is undone. */
  get isBusy(): boolean {
    return this.#awaited !== undefined || this.bindings.size > 0 || this.#runners().some(({ isUndoing }) => isUndoing);
  }

  /** Resolves once the attempt and the bindings have ended that are under way now, and what they had reserved is undone. */
  async flush(): Promise<void> {
    await Promise.all([this.#awaited?.ended, this.bindings.flush()]);
    await Promise.all(this.#runners().map((runner) => runner.undone()));
  }

  /** Gives up the attempt and the bindings that are under way. */
  async stop(): Promise<void> {
    for (const runner of this.#runners()) runner.giveUp(stopped);
    this.#awaited?.controller.abort(new BindingGivenUp(stopped));
    this.bindings.abortAll(stopped);
    await this.flush();
    // an attempt may have come to a binding before
    await this.bindings.flush();
  }

  /** Gives up all that is under way. Until `resume` nothing is tried, and nothing is written of what has failed. */
  suspend(): void {
    this.#isSuspended = true;
    for (const runner of this.#runners()) runner.giveUp(suspended);
    this.#awaited?.controller.abort(new BindingGivenUp(suspended));
    this.bindings.abortAll(suspended);
    this.#options.preemptions.abort(suspended);
    this.#options.writes.abort();
  }

  resume(): void {
    this.#isSuspended = false;
    for (const runner of this.#runners()) runner.resume();
  }

  /** Tries the next pod, or begins to. False where there is none, and while an attempt waits for extenders. */
  tryNext(): boolean {
    const queued = this.#isSuspended || this.#awaited !== undefined ? undefined : this.#options.queue.pop();
    if (queued === undefined) return false;
    callGuarded(
      () => this.#try(queued),
      (err) => this.#failedAt(queued, err),
    );
    return true;
  }

  /** The pod is on its node, or gone: nothing of its attempts is of interest any more. */
  settled(uid: string): void {
    if (this.#awaited?.uid === uid) this.#awaited.controller.abort(new BindingGivenUp(isGone));
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

  #runners(): readonly BindingRunner[] {
    return Array.from(this.#options.frameworks.values(), ({ binding }) => binding);
  }

  #try(queued: QueuedPodInfo): void {
    const { frameworks, cache, queue, cycle } = this.#options;
    const { podInfo } = queued;
    const framework = frameworks.get(podInfo.pod.spec?.schedulerName ?? '');
    if (framework === undefined || podInfo.pod.metadata?.deletionTimestamp != null || cache.isAssumed(podInfo.uid)) {
      queue.done(podInfo.uid);
      return;
    }
    const attempt = cycle.begin(framework, queued);
    if (framework.extenders.hasSayIn(podInfo)) this.#begin(attempt);
    else this.#conclude(attempt, cycle.run(attempt));
  }

  /** The snapshot stays as it is until the attempt has ended: no other one begins. */
  #begin(attempt: Attempt): void {
    const { cycle, onFree } = this.#options;
    const controller = new AbortController();
    const run = async (): Promise<void> => {
      const choice = await cycle.choose(attempt, controller.signal).catch((error: unknown) => ({ error }));
      // from here on nothing waits
      this.#awaited = undefined;
      callGuarded(
        () => {
          const reason = this.#whyGivenUp(attempt, controller.signal);
          if (reason !== undefined) this.#conclude(attempt, { error: reason });
          else this.#conclude(attempt, 'error' in choice ? choice : cycle.take(attempt, choice.nodeName));
        },
        (err) => this.#failedAt(attempt.queued, err),
      );
      onFree();
    };
    this.#awaited = { uid: attempt.podInfo.uid, controller, ended: run() };
  }

  /** What has happened while extenders were asked, so that nothing is to come of the attempt. */
  #whyGivenUp({ podInfo }: Attempt, { aborted, reason }: AbortSignal): unknown {
    if (aborted) return reason;
    const latest = this.#options.queue.latestOf(podInfo.uid);
    const isWanted = latest !== undefined && latest.pod.metadata?.deletionTimestamp == null;
    return isWanted ? undefined : new BindingGivenUp(isGone);
  }

  #conclude(attempt: Attempt, outcome: AttemptOutcome): void {
    const { metrics, failures, preemptions } = this.#options;
    const { podInfo } = attempt;
    metrics.chose(attempt.startedAt);
    if (outcome.placed !== undefined) {
      this.bindings.begin(outcome.placed, outcome.waits);
      return;
    }
    this.#failed += 1;
    const { error, made, nodeName } = outcome;
    // without a plugin that makes room a promised node is taken back
    failures.add(attempt, { error, nodeName, made: made ?? noPromise });
    if (made?.actions !== undefined) {
      const victims = evictionsOf(made.actions);
      if (victims.length > 0) metrics.preempted(victims.length);
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
    cycle.undo(placed, end.mayBeBound);
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
