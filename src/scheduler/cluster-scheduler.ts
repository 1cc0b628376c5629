import {
  awaitStart,
  RunState,
  type RunStateName,
  requireStartOptions,
  type StartOptions,
} from '../base/concurrency/run-state.ts';
import { StatusManagerError } from '../base/errors.ts';
import type { RetriedError } from '../client/resources/error-class.ts';
import { KubeTransport } from '../client/transport/kube-transport.ts';
import { ApiSchedulerClient } from './cluster/api-scheduler-client.ts';
import { kindsFor, StoreListers } from './cluster/cluster-listers.ts';
import { sinkOf } from './cluster/cluster-sink.ts';
import { ClusterWatches } from './cluster/cluster-watches.ts';
import { LeaderElector } from './cluster/leader-elector.ts';
import { type ClusterSchedulerOptions, type ResolvedClusterOptions, resolveClusterOptions } from './cluster-scheduler-options.ts';
import type { PodExplanation } from './reports/explain-pod.ts';
import { Scheduler } from './scheduler.ts';
import { keepsObjects } from './scheduler-options.ts';
import type { SchedulerStats } from './scheduler-reports.ts';

/** The watches hand out each object once, and never change it. */
const kept = { [keepsObjects]: true };
/** The requests of a scheduler are many and small: so many sockets carry them. */
const connections = 32;

/**
 * A scheduler of a cluster, in the place of kube-scheduler: follows its pods and nodes, binds pods, writes their condition
 * `PodScheduled` and events. Several may run: by a Lease one of them works and the others wait. One that loses the Lease writes
 * nothing from then on, and gives up the bindings under way; it goes on when it has the Lease again.
 *
 * @example
 * ```ts with-server
 * import { resources } from 'pod-status-manager/reflector';
 * import { ClusterScheduler } from 'pod-status-manager/scheduler';
 *
 * const nodes = server.objects(resources.nodes);
 * const node = nodes.create({ metadata: { name: 'node-1' }, status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10' } } });
 * nodes.update({ ...node, spec: {} }); // the server taints a new node until it is ready
 * server.store.create({ metadata: { name: 'web' }, spec: { containers: [{ name: 'app', image: 'app:1' }] } });
 * const scheduler = new ClusterScheduler({ kubeConfig, leaderElection: false });
 * await scheduler.start();
 * await scheduler.flush();
 * console.log(server.store.get('default', 'web').spec?.nodeName); // node-1
 * await scheduler.stop();
 * ```
 */
export class ClusterScheduler {
  /** The scheduler within: for its `stats`, and for plugins that let pods wait. */
  readonly scheduler: Scheduler;
  readonly #options: ResolvedClusterOptions;
  /** Closed by `stop()`; undefined where the transport is the caller's. */
  readonly #ownTransport: KubeTransport | undefined;
  readonly #client: ApiSchedulerClient;
  readonly #watches: ClusterWatches;
  readonly #elector: LeaderElector | undefined;
  readonly #synced = Promise.withResolvers<void>();
  readonly #runState = new RunState('cluster scheduler');

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. Starts nothing. */
  constructor(options: ClusterSchedulerOptions) {
    const resolved = resolveClusterOptions(options);
    const { clock, logger, random, identity, election, requestLimit } = resolved;
    this.#options = resolved;
    const { kubeConfig } = options;
    this.#ownTransport =
      kubeConfig && new KubeTransport(kubeConfig, { connections, clock, logger, userAgent: 'pod-status-manager-scheduler' });
    const transport = (options.transport ?? this.#ownTransport) as KubeTransport;
    this.#elector =
      election &&
      new LeaderElector({
        ...{ transport, identity, name: 'kube-scheduler', clock, random, logger, ...election },
        onStarted: () => this.scheduler.resume(),
        onStopped: () => this.scheduler.suspend(),
      });
    const mayWrite = (): boolean => this.#elector?.isLeader() ?? true;
    this.#client = new ApiSchedulerClient({ transport, requestLimit, identity, clock, logger, mayWrite });
    const listers = new StoreListers();
    this.scheduler = new Scheduler({ ...resolved.scheduler, client: this.#client, listers, logger, ...kept });
    const kinds = kindsFor(this.scheduler.pluginNames);
    const { metrics } = options;
    this.#watches = new ClusterWatches({
      transport,
      sink: sinkOf(this.scheduler),
      listers,
      ...{ kinds, clock, random, logger, metrics },
      resourcesOfInterest: this.scheduler.resourcesOfInterest,
    });
    this.#synced.promise.catch(() => {});
  }

  /** `idle`, `running`, `stopping` or `stopped`. */
  get state(): RunStateName {
    return this.#runState.name;
  }

  /** True while this one is to schedule. */
  get isLeader(): boolean {
    return this.#runState.name === 'running' && (this.#elector?.isLeader() ?? true);
  }

  /** Who leads, as far as it was seen; undefined where nobody does, and without leader election. */
  get leader(): string | undefined {
    return this.#elector?.holder;
  }

  /** See `Scheduler.stats`. */
  stats(): SchedulerStats {
    return this.scheduler.stats();
  }

  /** Why the Lease could not be read, taken or renewed, while no try has succeeded since; undefined otherwise. */
  get leaseFailure(): RetriedError | undefined {
    return this.#elector?.lastFailure();
  }

  /** See `Scheduler.explain`. Of a pod that waits it also says where this process is not the one that schedules, and why. */
  explain(podUID: string): PodExplanation {
    const explanation = this.scheduler.explain(podUID);
    const { state, text } = explanation;
    if (this.isLeader || state === 'unknown' || state === 'placed') return explanation;
    return { ...explanation, text: `${text}\n${this.#whyIdle()}` };
  }

  /**
   * Resolves once the pods and nodes of the cluster are known and it schedules, or contends for the Lease. Rejects with
   * ERR_ALREADY_STARTED, with ERR_STOPPED when it is stopped before that, and with ERR_INVALID_OPTION. Rejects with ERR_START_TIMEOUT
   * after `timeoutMs`, and with the signal's reason; then it goes on trying, and `stop()` ends it.
   */
  start(options: StartOptions = {}): Promise<void> {
    try {
      requireStartOptions(options);
      this.#runState.start();
    } catch (error) {
      return Promise.reject(error);
    }
    this.#begin().then(this.#synced.resolve, this.#synced.reject);
    const waitsFor = () => this.#watches.waitsFor();
    return awaitStart(this.#synced.promise, options, { owner: 'cluster scheduler', clock: this.#options.clock, waitsFor });
  }

  /** As `Scheduler.flush`; events are written, too. Pods of which the watch has not told yet are not waited for. */
  async flush(): Promise<void> {
    await this.scheduler.flush();
    await this.#client.flush();
  }

  /** Gives up bindings under way, ends the watches and gives the Lease up. When it resolves, no timer and no socket is left. */
  stop(): Promise<void> {
    return this.#runState.stop(async () => {
      this.#synced.reject(new StatusManagerError('ERR_STOPPED', 'The cluster scheduler was stopped before it had started'));
      await this.scheduler.stop();
      await Promise.all([this.#watches.stop(), this.#client.stop()]);
      // only now may another one begin
      await this.#elector?.stop();
      await this.#ownTransport?.close();
    });
  }

  /** The same as `stop()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #whyIdle(): string {
    const { leader, leaseFailure } = this;
    if (this.#runState.name !== 'running') return 'This scheduler does not run.';
    const idle = 'This process schedules nothing, because it is not the leader';
    if (leaseFailure !== undefined) return `${idle}; its last try for the Lease failed: ${leaseFailure.message}`;
    return leader === undefined ? `${idle} yet.` : `${idle}: ${leader} is.`;
  }

  async #begin(): Promise<void> {
    if (this.#elector !== undefined) this.scheduler.suspend();
    await this.#watches.start();
    if (this.#runState.name !== 'running') return;
    this.scheduler.start();
    this.#elector?.start();
  }
}
