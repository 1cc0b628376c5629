import type { WireNode, WirePod } from '../api/json/types.ts';
import { podFields } from '../api/pod/pod-log-fields.ts';
import { RunState, type RunStateName } from '../base/concurrency/run-state.ts';
import { RecoveryLines } from '../base/logging/recovery-lines.ts';
import type { ApiObject, ApiResource } from '../client/resources/api-resource.ts';
import { Nominator } from './cache/nominator.ts';
import { SchedulerCache } from './cache/scheduler-cache.ts';
import { countingOf, type PodCounting, podReadingOf } from './classic/pod-counting.ts';
import { SchedulingAlgorithm } from './cycle/algorithm.ts';
import { AssumedPodExpiry } from './cycle/assumed-pod-expiry.ts';
import { extenderName } from './cycle/awaited-search.ts';
import { FailedAttempts } from './cycle/failed-attempts.ts';
import { PodAttempts } from './cycle/pod-attempts.ts';
import { RunLoop } from './cycle/run-loop.ts';
import { SchedulingCycle } from './cycle/scheduling-cycle.ts';
import { StatusWrites } from './cycle/status-writes.ts';
import type { ExtenderOptions } from './extenders/extender-options.ts';
import { ExtenderSet } from './extenders/extender-set.ts';
import { type ClusterObjectChange, ClusterObjects, eventNameOf } from './framework/cluster-objects.ts';
import type { Framework } from './framework/framework.ts';
import type { Plugin, ProfilePlugins } from './framework/plugin.ts';
import type { PluginError } from './framework/plugin-error.ts';
import { createPodInfo, type PodInfo } from './nodes/pod-info.ts';
import { PreemptionExecutor, Preemptions } from './preemption/executor.ts';
import { createFrameworks, type Frameworks } from './profile/profile-plugins.ts';
import { steadyTime } from './queue/backoff-queue.ts';
import { ClusterChanges, hasEnded } from './queue/cluster-changes.ts';
import type { SeenEvent } from './queue/in-flight-pods.ts';
import { SchedulingQueue } from './queue/scheduling-queue.ts';
import type { PodSchedulingExplanation } from './reports/explain-pod.ts';
import { type FailureWords, LastAttempts } from './reports/last-attempts.ts';
import { wordsOfRequest } from './reports/request-words.ts';
import { SchedulerMetrics } from './reports/scheduler-metrics.ts';
import { type ResolvedSchedulerOptions, resolveSchedulerOptions, type SchedulerOptions } from './scheduler-options.ts';
import {
  explanationOf,
  type ReportedState,
  type SchedulerSnapshot,
  type SchedulerStats,
  schedulerSnapshotOf,
  sizesOf,
  statsOf,
} from './scheduler-reports.ts';

/** Stands in the queue for the extenders of a profile, which say nothing of what would help: any change brings a pod back. */
const extenderEvents: Plugin = { name: extenderName };

function profileOfQueue({ profile, extenders }: Framework): ProfilePlugins {
  return extenders.size === 0 ? profile : { ...profile, plugins: [...profile.plugins, extenderEvents] };
}

/** Why a pod that was promised a node waits on. */
const victimStays = 'a pod that is to go so that this one fits could not be deleted';
const wordsOfVictim = (error: unknown): FailureWords => wordsOfRequest(victimStays, error);

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
  readonly #cache: SchedulerCache;
  readonly #counting: PodCounting;
  readonly #expiry: AssumedPodExpiry;
  readonly #nominator = new Nominator();
  readonly #lastAttempts = new LastAttempts();
  readonly #frameworks: Frameworks;
  readonly #queue: SchedulingQueue;
  readonly #changes: ClusterChanges;
  readonly #attempts: PodAttempts;
  readonly #writes: StatusWrites;
  readonly #preemptions: Preemptions;
  readonly #metrics: SchedulerMetrics;
  readonly #loop: RunLoop;
  readonly #runState = new RunState('scheduler');
  readonly #recoveries: RecoveryLines;
  readonly #reported: ReportedState;
  readonly #ownPod: (pod: WirePod) => WirePod;
  readonly #ownNode: (node: WireNode) => WireNode;
  readonly #ownObject: ResolvedSchedulerOptions['ownObject'];
  readonly #objects: ClusterObjects;
  readonly #extenders: ExtenderSet;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. Starts nothing. */
  constructor(options: SchedulerOptions) {
    const resolved = resolveSchedulerOptions(options);
    const { client, canEvict, clock, logger, mostBindings, bindTimeoutMs, assumedPodTTLMs } = resolved;
    this.#ownPod = resolved.ownPod;
    this.#ownNode = resolved.ownNode;
    this.#ownObject = resolved.ownObject;
    this.#objects = new ClusterObjects((err) => logger.warn({ err }, 'a handler of the scheduler failed at an object'));
    const time = steadyTime(clock);
    this.#metrics = new SchedulerMetrics(resolved.metrics, clock, time);
    this.#counting = countingOf(resolved.profiles);
    this.#cache = new SchedulerCache({ clock, version: this.#counting, assumedPodTTLMs });
    const preemptor = this.#makePreemptor(resolved);
    this.#extenders = new ExtenderSet(resolved.extenders, { clock, logger, guard: () => resolved.around?.assertMayWrite() });
    this.#frameworks = this.#makeFrameworks(resolved, preemptor);
    this.#loop = new RunLoop({ step: () => !this.#attempts.bindings.isFull && this.#attempts.tryNext(), clock });
    const wake = (): void => this.#loop.wake();
    this.#queue = new SchedulingQueue({
      profiles: [...this.#frameworks.values()].map(profileOfQueue),
      backoff: resolved.backoff,
      time,
      logger,
      onReady: wake,
      maxInUnschedulableMs: resolved.maxInUnschedulableMs,
      onIncoming: (place, event) => this.#metrics.incoming(place, event),
    });
    for (const resource of this.#queue.resourcesOfInterest) this.#objects.lister(resource);
    this.#objects.seal();
    this.#changes = this.#clusterChanges();
    this.#expiry = this.#makeExpiry(resolved);
    const [cache, nominator] = [this.#cache, this.#nominator];
    const cycle = new SchedulingCycle({ cache, nominator, algorithm: new SchedulingAlgorithm(), time, logger, canEvict });
    const recoveries = new RecoveryLines({ clock, logger });
    this.#recoveries = recoveries;
    this.#writes = new StatusWrites({ client, clock, time, logger, recoveries });
    this.#preemptions = new Preemptions(preemptor, clock, (podUID) => this.#queue.activate(podUID));
    const lastAttempts = this.#lastAttempts;
    const shared = {
      client,
      clock,
      time,
      logger,
      lastAttempts,
      queue: this.#queue,
      writes: this.#writes,
      metrics: this.#metrics,
      recoveries,
      preemptions: this.#preemptions,
    };
    this.#attempts = new PodAttempts({
      ...shared,
      cycle,
      mostBindings,
      bindTimeoutMs,
      onFree: wake,
      frameworks: this.#frameworks,
      cache,
      changes: this.#changes,
      failures: new FailedAttempts({ ...shared, nominator, explain: (uid) => this.explain(uid) }),
    });
    const extenders = this.#extenders.reports;
    this.#reported = { ...shared, options: resolved, cache, nominator, extenders, attempts: this.#attempts };
  }

  /** `idle`, `running`, `stopping` or `stopped`. */
  get state(): RunStateName {
    return this.#runState.name;
  }

  /** What plugins of any profile ask for beside pods and nodes: `setObject` and `deleteObject` are to tell of these. */
  get resourcesOfInterest(): readonly ApiResource[] {
    return this.#objects.resources;
  }

  /** What it has done and has to do. */
  stats(): SchedulerStats {
    return statsOf(this.#reported);
  }

  /** Where a pod is, and why it is pending: what each node had against it when it was last tried, and what would help, also in words. */
  explain(podUID: string): PodSchedulingExplanation {
    return explanationOf(this.#reported, podUID);
  }

  /** What it does now, and all that is wrong. It changes nothing. */
  snapshot(): SchedulerSnapshot {
    return schedulerSnapshotOf(this.#reported, this.#runState.name);
  }

  /** Begins to schedule what is there and what comes. Throws ERR_ALREADY_STARTED, and ERR_STOPPED after `stop()`. */
  start(): void {
    this.#runState.start();
    this.#queue.start();
    this.#expiry.start();
    this.#metrics.start(() => sizesOf(this.#reported));
    if (!this.#attempts.isSuspended) this.#loop.start();
  }

  /** Tries one pod, also without `start`; one in which extenders have a say is begun with. False where none can be tried now. Throws ERR_STOPPED after `stop()`. */
  scheduleOne(): boolean {
    this.#runState.assertNotStopped('scheduleOne');
    return this.#attempts.tryNext();
  }

  /**
   * Schedules nothing until `resume()`, and gives up all that is under way: another process may do it now. No binding, no status and no
   * deletion of a victim is begun any more.
   */
  suspend(): void {
    this.#loop.stop();
    this.#attempts.suspend();
  }

  /** Schedules again after `suspend()`, if `start()` was called. */
  resume(): void {
    this.#attempts.resume();
    if (this.#runState.name === 'running') this.#loop.start();
  }

  /**
   * Resolves once every pod that can be tried has been, and all that followed has been written: each pod is then bound, or waits for a
   * change or the end of its back-off. A pod that waits for a permit, for its volumes or for an extender is waited for.
   */
  async flush(): Promise<void> {
    while (this.#loop.isBusy || this.#attempts.isBusy || this.#preemptions.size > 0 || this.#writes.size > 0) {
      await Promise.all([this.#loop.idle(), this.#attempts.flush(), this.#writes.flush(), this.#preemptions.flush()]);
    }
  }

  /** Ends everything: bindings under way are given up, and no timer is left. Never rejects. */
  stop(): Promise<void> {
    return this.#runState.stop(async () => {
      this.#loop.stop();
      this.#queue.close();
      this.#expiry.stop();
      this.#metrics.close();
      await this.#attempts.stop();
      await Promise.all([this.#writes.stop(), this.#preemptions.stop(), this.#extenders.close()]);
      this.#recoveries.stop();
    });
  }

  /** The same as `stop()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /**
   * A pod is there, or has changed. One that has a node counts there; one that has none is scheduled. The object is copied: it may be
   * changed and given again. A pod that has a node keeps it: a version without one counts as an older one, unless the pod was deleted.
   * What placement depends on and the pod leaves open is filled in as a server does: the scheduler's name, requests of what has only a
   * limit, ports of the host's network, the pod's own values of `matchLabelKeys`. Throws ERR_INVALID_ARGUMENT for a pod without a name or
   * a uid, and for a quantity that is none or below 0; nothing has changed then.
   */
  setPod(pod: WirePod): void {
    this.#changes.setPod(this.#ownPod(pod));
    const { uid = '', namespace = '', name = '' } = pod.metadata ?? {};
    const nodeName = pod.spec?.nodeName ?? '';
    if (nodeName !== '') this.#attempts.placed({ uid, namespace, name }, nodeName);
    else if (hasEnded(pod)) this.#attempts.settled(uid);
  }

  /**
   * The pods that were bound before this time, in milliseconds since 1970, and were not given to `setPod` with their node since: a list
   * of all pods that was begun later shows them there, or the server has lost the binding.
   */
  unconfirmedPods(boundBefore: number): readonly WirePod[] {
    return this.#cache.unconfirmed(boundBefore).map(({ pod }) => pod);
  }

  /** A pod is gone. */
  deletePod(uid: string): void {
    this.#changes.deletePod(uid);
    this.#attempts.settled(uid);
  }

  /**
   * A node is there, or has changed. The object is copied: it may be changed and given again. Throws ERR_INVALID_ARGUMENT for a node
   * without a name, and for a quantity that is none; nothing has changed then.
   */
  setNode(node: WireNode): void {
    this.#changes.setNode(this.#ownNode(node));
  }

  /** A node is gone. */
  deleteNode(name: string): void {
    this.#changes.deleteNode(name);
  }

  /**
   * Another object is there, or has changed: plugins see it from now on, and pods that wait for that are tried again. The object is copied.
   * Nothing is done for a resource that is not among `resourcesOfInterest`. Throws ERR_INVALID_ARGUMENT for an object without a name, or
   * without the namespace that its resource has; nothing has changed then.
   */
  setObject<T extends ApiObject>(resource: ApiResource<T>, object: T): void {
    this.#objectChanged(resource, this.#objects.set(resource, this.#ownObject(resource, object)));
  }

  /** Another object is gone. The namespace is undefined for an object of the cluster. */
  deleteObject(resource: ApiResource, namespace: string | undefined, name: string): void {
    this.#objectChanged(resource, this.#objects.delete(resource, namespace, name));
  }

  /** The uids of the pods that have a node and wait for a permit, each with the plugins that have yet to give it. */
  waitingPods(): ReadonlyMap<string, readonly string[]> {
    return this.#attempts.bindings.permits.list();
  }

  /** A plugin permits a pod that waits. False where it does not wait. */
  allowPod(uid: string, plugin: string): boolean {
    return this.#attempts.bindings.permits.allow(uid, plugin);
  }

  /** A plugin refuses a pod that waits. False where it does not wait. */
  rejectPod(uid: string, plugin: string, reason: string): boolean {
    return this.#attempts.bindings.permits.reject(uid, plugin, reason);
  }

  #objectChanged(resource: ApiResource, change: ClusterObjectChange | undefined): void {
    if (change === undefined) return;
    const { before, after } = change as Pick<SeenEvent, 'before' | 'after'>;
    const action = before === undefined ? 'Add' : after === undefined ? 'Delete' : 'Update';
    const name = eventNameOf(resource);
    this.#queue.see({ event: { resource: name, action, label: `${name}${action}` }, before, after });
  }

  #makePreemptor({ client, clock, logger }: ResolvedSchedulerOptions): PreemptionExecutor {
    return new PreemptionExecutor({
      client,
      nominated: this.#nominator,
      clock,
      logger,
      currentPod: ({ uid }) => this.#cache.podOf(uid)?.pod,
      withdraw: ({ uid }) => this.#attempts.bindings.preempt(uid),
      onEnd: ({ uid }, failure) => this.#lastAttempts.preemptionEnded(uid, failure && wordsOfVictim(failure.error)),
      explainFailure: wordsOfVictim,
    });
  }

  #makeExpiry({ assumedPodTTLMs, clock, logger }: ResolvedSchedulerOptions): AssumedPodExpiry {
    return new AssumedPodExpiry({
      ttlMs: assumedPodTTLMs,
      clock,
      logger,
      expire: () => this.#cache.expireAssumedPods(),
      onExpired: (pod, nodeName) => this.#changes.placeGivenBack(pod, nodeName),
    });
  }

  #makeFrameworks(options: ResolvedSchedulerOptions, preemptor: PreemptionExecutor): Frameworks {
    const { client, clock, logger, random, profiles, registry } = options;
    const snapshot = this.#cache.updateSnapshot();
    const context = {
      client,
      snapshot: () => snapshot,
      node: (name: string) => this.#cache.nodeOf(name),
      objects: this.#objects,
      nominated: this.#nominator,
      random,
      clock,
      shared: new Map(),
      extendersOf: (own: readonly ExtenderOptions[]) => this.#extenders.with(own),
      ignoredResources: this.#extenders.ignoredResources,
      isPreempting: (podUID: string) => preemptor.isPreempting(podUID),
      onPostFilter: (plugin: string) => this.#metrics.postFilter(plugin),
      onFailure: (err: PluginError, pod: PodInfo) =>
        logger.warn({ err, plugin: err.plugin, ...podFields(pod) }, 'a plugin of the scheduler failed'),
    };
    return createFrameworks(context, profiles, registry);
  }

  #clusterChanges(): ClusterChanges {
    const cache = this.#cache;
    return new ClusterChanges({
      cache,
      queue: this.#queue,
      nominator: this.#nominator,
      createPodInfo: (pod) => createPodInfo(pod, podReadingOf(this.#counting)),
      isResponsibleFor: (schedulerName) => this.#frameworks.has(schedulerName),
      onAssumedPodDeleted: (pod) => {
        cache.removePod(pod);
        this.#attempts.bindings.abort(pod.uid, 'the pod was deleted');
      },
    });
  }
}
