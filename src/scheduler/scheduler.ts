import type { JsonMembers } from '../client/transport/api-answer.ts';
import { RunState } from '../concurrency/run-state.ts';
import type { Logger } from '../seams/logger.ts';
import type { WireNode } from '../wire/node-types.ts';
import type { WirePod } from '../wire/types.ts';
import { SchedulingAlgorithm } from './algorithm/algorithm.ts';
import { Nominator } from './cache/nominator.ts';
import { SchedulerCache } from './cache/scheduler-cache.ts';
import type { PlacedPod } from './cycle/attempt.ts';
import { BindingCycles, type BindingEnd } from './cycle/binding-cycles.ts';
import { FailedAttempts } from './cycle/failed-attempts.ts';
import { Preemptions } from './cycle/preemptions.ts';
import { RunLoop } from './cycle/run-loop.ts';
import { SchedulingCycle } from './cycle/scheduling-cycle.ts';
import { StatusWrites } from './cycle/status-writes.ts';
import type { PodExplanation } from './explain/explain-pod.ts';
import { LastAttempts } from './explain/last-attempts.ts';
import type { EventAction, EventResource } from './framework/cluster-event.ts';
import type { SchedulerClient } from './framework/scheduler-client.ts';
import { SchedulerMeasures } from './measures/scheduler-measures.ts';
import { createPodInfo } from './nodes/pod-info-factory.ts';
import { PreemptionExecutor } from './preemption/executor.ts';
import { createFrameworks, type Frameworks } from './profile/frameworks.ts';
import { ClusterChanges } from './queue/cluster-changes.ts';
import { SchedulingQueue } from './queue/scheduling-queue.ts';
import { resolveSchedulerOptions, type SchedulerOptions } from './scheduler-options.ts';
import { explanationOf, type ReportedParts, type SchedulerStats, sizesOf, statsOf } from './scheduler-reports.ts';

/**
 * Chooses nodes for pods. It is told of pods and nodes by `setPod`, `setNode` and the like, and writes through its `client`.
 * One pod is looked at after another: the next one, its nodes, its place on the best of them, all with nothing in between.
 * Bindings go on beside that. A binding that fails gives the place back, and the pod is tried again.
 *
 * @example
 * ```ts
 * import { Scheduler } from 'pod-status-manager/scheduler';
 *
 * const scheduler = new Scheduler({ client: { bind: async (pod, node) => console.log(pod.metadata?.name, node) } }); // web node-1
 * scheduler.setNode({ metadata: { name: 'node-1' }, status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10' } } });
 * const containers = [{ name: 'app', image: 'app:1' }];
 * scheduler.setPod({ metadata: { name: 'web', namespace: 'default', uid: 'u1' }, spec: { schedulerName: 'default-scheduler', containers } });
 * scheduler.start();
 * await scheduler.flush();
 * await scheduler.stop();
 * ```
 */
export class Scheduler {
  readonly #logger: Logger;
  readonly #client: SchedulerClient;
  readonly #cache: SchedulerCache;
  readonly #nominator = new Nominator();
  readonly #frameworks: Frameworks;
  readonly #queue: SchedulingQueue;
  readonly #changes: ClusterChanges;
  readonly #cycle: SchedulingCycle;
  readonly #bindings: BindingCycles;
  readonly #writes: StatusWrites;
  readonly #failures: FailedAttempts;
  readonly #lastAttempts = new LastAttempts();
  readonly #preemptions: Preemptions;
  readonly #measures: SchedulerMeasures;
  readonly #loop: RunLoop;
  readonly #runState = new RunState('scheduler');
  readonly #reported: ReportedParts;
  #isSuspended = false;
  #bound = 0;
  #failedAttempts = 0;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. Starts nothing. */
  constructor(options: SchedulerOptions) {
    const resolved = resolveSchedulerOptions(options);
    const { client, clock, logger, random, listers, mostBindings, bindTimeoutMs } = resolved;
    this.#logger = logger;
    this.#client = client;
    this.#measures = new SchedulerMeasures(resolved.metrics, clock);
    this.#cache = new SchedulerCache({ clock });
    const snapshot = this.#cache.updateSnapshot();
    const preemptor = new PreemptionExecutor({
      ...{ client, nominated: this.#nominator, logger },
      currentPod: ({ uid }) => this.#cache.podOf(uid)?.pod,
      withdraw: ({ uid }) => this.#bindings.permits.reject(uid, '', 'preempted'),
    });
    const context = {
      client,
      ...{ snapshot: () => snapshot, listers, nominated: this.#nominator, random, now: () => clock.now() },
      isPreempting: (podUID: string) => preemptor.isPreempting(podUID),
      onFailure: (err: unknown) => logger.warn({ err }, 'a plugin of the scheduler failed'),
    };
    this.#frameworks = createFrameworks(context, resolved.profiles, resolved.registry);
    this.#loop = new RunLoop({ step: () => this.#step(), clock });
    const wake = (): void => this.#loop.wake();
    this.#queue = new SchedulingQueue({
      profiles: [...this.#frameworks.values()].map(({ profile }) => profile),
      ...{ backoff: resolved.backoff, clock, logger, onReady: wake },
      maxInUnschedulableMs: resolved.maxInUnschedulableMs,
      onIncoming: (place, event) => this.#measures.incoming(place, event),
    });
    this.#changes = this.#clusterChanges();
    const algorithm = new SchedulingAlgorithm();
    this.#cycle = new SchedulingCycle({ cache: this.#cache, nominator: this.#nominator, algorithm, clock, logger });
    this.#writes = new StatusWrites(client, clock, logger);
    const [writes, nominator, queue, lastAttempts] = [this.#writes, this.#nominator, this.#queue, this.#lastAttempts];
    const onEnd = (placed: PlacedPod, end: BindingEnd): void => this.#bindingEnded(placed, end);
    this.#bindings = new BindingCycles({ writes, clock, mostBindings, bindTimeoutMs, onEnd, onFree: wake });
    const measures = this.#measures;
    this.#failures = new FailedAttempts({ queue, nominator, client, writes, lastAttempts, measures, clock, logger });
    this.#reported = { options: resolved, queue, cache: this.#cache, bindings: this.#bindings, lastAttempts };
    this.#preemptions = new Preemptions(preemptor, (podUID) => this.#queue.activate(podUID));
  }

  /** The names of the plugins of all profiles, in no order. */
  get pluginNames(): ReadonlySet<string> {
    const profiles = [...this.#frameworks.values()].map(({ profile }) => profile);
    return new Set(profiles.flatMap(({ plugins }) => plugins.map(({ name }) => name)));
  }

  /** What it has done and has to do. */
  stats(): SchedulerStats {
    return statsOf(this.#reported, { bound: this.#bound, failedAttempts: this.#failedAttempts });
  }

  /** Where a pod is, and why it is pending: what each node had against it when it was last tried, also in words. */
  explain(podUID: string): PodExplanation {
    return explanationOf(this.#reported, podUID);
  }

  /** Begins to schedule what is there and what comes. Throws ERR_ALREADY_STARTED, and ERR_STOPPED after `stop()`. */
  start(): void {
    this.#runState.start();
    this.#queue.start();
    this.#measures.start(() => sizesOf(this.#reported));
    if (!this.#isSuspended) this.#loop.start();
  }

  /** Tries one pod, also without `start`. False where none can be tried now. Throws ERR_STOPPED after `stop()`. */
  scheduleOne(): boolean {
    this.#runState.assertNotStopped('scheduleOne');
    return !this.#isSuspended && this.#tryNext();
  }

  /** Schedules nothing and gives up every binding under way until `resume()`: another process may do it now. */
  suspend(): void {
    this.#isSuspended = true;
    this.#loop.stop();
    this.#bindings.abortAll('the scheduler was suspended');
    this.#writes.drop();
  }

  /** Schedules again after `suspend()`, if `start()` was called. */
  resume(): void {
    this.#isSuspended = false;
    if (this.#runState.name === 'running') this.#loop.start();
  }

  /**
   * Resolves once every pod that can be tried has been, and all that followed has been written: each pod is then bound, or waits for a
   * change or the end of its back-off. A pod that waits for a permit is waited for.
   */
  async flush(): Promise<void> {
    while (this.#loop.isBusy || this.#bindings.size > 0 || this.#preemptions.size > 0 || this.#writes.size > 0) {
      await Promise.all([this.#loop.idle(), this.#bindings.flush(), this.#writes.flush(), this.#preemptions.flush()]);
    }
  }

  /** Ends everything: bindings under way are given up, and no timer is left. Never rejects. */
  stop(): Promise<void> {
    return this.#runState.stop(async () => {
      this.#loop.stop();
      this.#queue.close();
      this.#measures.close();
      this.#bindings.abortAll('the scheduler was stopped');
      await this.#bindings.flush();
      await Promise.all([this.#writes.stop(), this.#preemptions.stop()]);
    });
  }

  /** A pod is there, or has changed. One that has a node counts there; one that has none is scheduled. */
  setPod(pod: WirePod): void {
    this.#changes.setPod(pod);
    if ((pod.spec?.nodeName ?? '') !== '') this.#lastAttempts.delete(pod.metadata?.uid ?? '');
  }

  /** A pod is gone. */
  deletePod(uid: string): void {
    this.#changes.deletePod(uid);
    this.#lastAttempts.delete(uid);
  }

  /** A node is there, or has changed. */
  setNode(node: WireNode): void {
    this.#changes.setNode(node);
  }

  /** A node is gone. */
  deleteNode(name: string): void {
    this.#changes.deleteNode(name);
  }

  /** Another object was added, has changed or is gone: pods that wait for that are tried again. */
  objectChanged(resource: EventResource, before: JsonMembers | undefined, after: JsonMembers | undefined): void {
    const action: EventAction = before === undefined ? 'Add' : after === undefined ? 'Delete' : 'Update';
    this.#queue.see({ event: { resource, action, label: `${resource}${action}` }, before, after });
  }

  /** The uids of the pods that have a node and wait for a permit, each with the plugins that have yet to give it. */
  waitingPods(): ReadonlyMap<string, readonly string[]> {
    return this.#bindings.permits.list();
  }

  /** A plugin permits a pod that waits. False where it does not wait. */
  allowPod(uid: string, plugin: string): boolean {
    return this.#bindings.permits.allow(uid, plugin);
  }

  /** A plugin refuses a pod that waits. False where it does not wait. */
  rejectPod(uid: string, plugin: string, reason: string): boolean {
    return this.#bindings.permits.reject(uid, plugin, reason);
  }

  #clusterChanges(): ClusterChanges {
    const cache = this.#cache;
    return new ClusterChanges({
      ...{ cache, queue: this.#queue, nominator: this.#nominator },
      createPodInfo: (pod) => createPodInfo(pod),
      isResponsibleFor: (schedulerName) => this.#frameworks.has(schedulerName),
      onAssumedPodDeleted: (pod) => {
        cache.removePod(pod);
        this.#bindings.abort(pod.uid, 'the pod was deleted');
      },
    });
  }

  /** True where there may be more to do at once. */
  #step(): boolean {
    try {
      return !this.#bindings.isFull && this.#tryNext();
    } catch (err) {
      this.#logger.error({ err }, 'the scheduler has failed at a pod');
      return false;
    }
  }

  #tryNext(): boolean {
    const queued = this.#queue.pop();
    if (queued === undefined) return false;
    const { podInfo } = queued;
    const framework = this.#frameworks.get(podInfo.pod.spec?.schedulerName ?? '');
    if (framework === undefined || podInfo.pod.metadata?.deletionTimestamp !== undefined || this.#cache.isAssumed(podInfo.uid)) {
      this.#queue.done(podInfo.uid);
      return true;
    }
    const attempt = this.#cycle.begin(framework, queued);
    const outcome = this.#cycle.run(attempt);
    this.#measures.chose(attempt.startedAt);
    if (outcome.placed !== undefined) {
      this.#bindings.begin(outcome.placed, outcome.waits);
      return true;
    }
    this.#failedAttempts += 1;
    const { error, made } = outcome;
    // without a plugin that makes room, or where it failed, a promised node is taken back
    this.#failures.add(attempt, error, made === undefined ? '' : made.nominatedNodeName);
    if (made?.actions !== undefined) {
      this.#measures.preempted(made.actions.length);
      this.#preemptions.begin(podInfo, made.actions);
    }
    return true;
  }

  #bindingEnded(placed: PlacedPod, end: BindingEnd): void {
    const { podInfo, nodeName, framework, state } = placed;
    if (end.isBound) {
      this.#bound += 1;
      this.#measures.bound(placed.queued, framework.schedulerName, placed.startedAt);
      this.#changes.podBound(podInfo, nodeName);
      this.#queue.done(podInfo.uid);
      this.#lastAttempts.delete(podInfo.uid);
      const note = `Successfully assigned ${podInfo.key} to ${nodeName}`;
      this.#client.event({ pod: podInfo.pod, type: 'Normal', reason: 'Scheduled', action: 'Binding', note });
      framework.binding.postBind(state, podInfo, nodeName);
      return;
    }
    this.#failedAttempts += 1;
    this.#cycle.undo(placed);
    // its place is free for the others; a pod that was rejected is not helped by its own
    if (!end.isRejected) this.#changes.placeGivenBack(podInfo, nodeName);
    this.#failures.add(placed, end.error, '');
    if (end.isRejected) this.#changes.placeGivenBack(podInfo, nodeName, ({ uid }) => uid !== podInfo.uid);
  }
}
