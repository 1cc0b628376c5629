import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type SteadyClock, safeClock, systemClock } from '../base/clock.ts';
import type { RateLimiterOptions } from '../base/concurrency/rate-limiter.ts';
import {
  awaitStart,
  RunState,
  type RunStateName,
  requireStartOptions,
  type StartOptions,
} from '../base/concurrency/run-state.ts';
import { invalidOption, StatusManagerError } from '../base/errors.ts';
import { type Logger, loggerOption } from '../base/logging/logger.ts';
import type { MetricsSink } from '../base/metrics/metrics.ts';
import { optionOfType, requireKnownOptions, requireMethods } from '../base/options.ts';
import { frozenProblem, type PodProblem, type Problem } from '../base/problem.ts';
import type { ClientConfig } from '../client/kubeconfig/client-config.ts';
import type { RetriedError } from '../client/resources/error-class.ts';
import { KubeTransport } from '../client/transport/kube-transport.ts';
import { ApiSchedulerClient, checkedRequestLimit } from './cluster/api-scheduler-client.ts';
import { ClusterWatches, sinkOf } from './cluster/cluster-watches.ts';
import { LeaderElector } from './cluster/leader-elector.ts';
import type { LeaderElectorOptions } from './cluster/leader-options.ts';
import type { PodSchedulingExplanation, PodSchedulingState } from './reports/explain-pod.ts';
import { Scheduler } from './scheduler.ts';
import { keepsObjects, type SchedulerAround, type SchedulerOptions, schedulerOptionNames } from './scheduler-options.ts';
import type { ClusterSchedulerSnapshot, SchedulerStats } from './scheduler-reports.ts';

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
  /** Resolves when this process leads for the first time, and when it is stopped. */
  readonly #led = Promise.withResolvers<void>();
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
        transport,
        identity,
        name: 'kube-scheduler',
        clock,
        random,
        logger,
        ...election,
        onStarted: () => {
          this.scheduler.resume();
          this.#led.resolve();
        },
        onStopped: () => this.scheduler.suspend(),
      });
    const mayWrite = (): boolean => this.#elector?.isLeader() ?? true;
    this.#client = new ApiSchedulerClient({ transport, requestLimit, identity, clock, logger, mayWrite });
    // the watches hand out each object once, and never change it
    const within = { [keepsObjects]: this.#around() };
    this.scheduler = new Scheduler({ ...resolved.scheduler, client: this.#client, logger, ...within });
    const { metrics } = options;
    this.#watches = new ClusterWatches({
      transport,
      sink: sinkOf(this.scheduler),
      clock,
      random,
      logger,
      metrics,
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
  explain(podUID: string): PodSchedulingExplanation {
    const explanation = this.scheduler.explain(podUID);
    const { state, text, podNamespace, podName } = explanation;
    const idle = state === 'placed' ? undefined : this.#whyIdle(state);
    if (idle === undefined) return explanation;
    const { because, problem } = idle;
    const lines = [text, because, ...(problem?.help === undefined ? [] : [problem.help])];
    const own = problem && frozenProblem<PodProblem>({ ...problem, podUID, podNamespace, podName });
    return { ...explanation, problem: own ?? explanation.problem, text: lines.join('\n') };
  }

  /** What it does now, and all that is wrong. It changes nothing. A standby of a leader that lives is well, and has no notes. */
  snapshot(): ClusterSchedulerSnapshot {
    const { state, isLeader, leader: holderIdentity, leaseFailure } = this;
    const { hasSynced } = this.#watches;
    const ready = state === 'running' && hasSynced && leaseFailure === undefined;
    const leader = Object.freeze({ isLeader, holderIdentity, lastError: leaseFailure && Object.freeze(leaseFailure) });
    return Object.freeze({ ...this.scheduler.snapshot(), ready, hasSynced, leader });
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
      this.#led.resolve();
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

  #around(): SchedulerAround {
    const [state, problems] = [() => this.state, () => this.#problems()];
    const assertMayWrite = (): void => {
      if (!(this.#elector?.isLeader() ?? true)) throw new Error('this process does not hold the Lease');
    };
    return {
      get state() {
        return state();
      },
      problems,
      assertMayWrite,
    };
  }

  /** What keeps it from its work, apart from what is wrong with pods. */
  #problems(): Problem[] {
    if (this.state !== 'running') return [];
    const all = [...this.#watches.problems(), this.#elector?.problem(), this.#client.problem()];
    return all.filter((one) => one !== undefined);
  }

  /** Why this process does nothing for a pod; undefined where it does, or where the pod is not known and nothing is wrong. */
  #whyIdle(state: PodSchedulingState): { readonly because: string; readonly problem?: Problem | undefined } | undefined {
    if (this.#runState.name !== 'running') return state === 'unknown' ? undefined : { because: 'This scheduler does not run.' };
    if (!this.#watches.hasSynced && (this.isLeader || !this.#options.delayCacheUntilActive)) {
      const [problem] = this.#watches.problems();
      const why = problem === undefined ? 'the objects of the cluster are not listed' : problem.message;
      return { because: `This process schedules nothing yet: ${why}.`, problem };
    }
    if (state === 'unknown' || this.isLeader) return undefined;
    const { leader, leaseFailure } = this;
    const idle = 'This process schedules nothing, because it is not the leader';
    if (leaseFailure !== undefined)
      return {
        because: `${idle}; its last try for the Lease failed: ${leaseFailure.message}`,
        problem: this.#elector?.problem(),
      };
    return { because: leader === undefined ? `${idle} yet.` : `${idle}: ${leader} is.` };
  }

  async #begin(): Promise<void> {
    if (this.#elector !== undefined) this.scheduler.suspend();
    const isDelayed = this.#elector !== undefined && this.#options.delayCacheUntilActive;
    if (isDelayed) {
      this.#elector?.start();
      this.#synced.resolve();
      await this.#led.promise;
      if (this.#runState.name !== 'running') return;
    }
    await this.#watches.start();
    if (this.#runState.name !== 'running') return;
    this.scheduler.start();
    if (!isDelayed) this.#elector?.start();
  }
}

/** Which Lease is contended for; see `LeaderElectorOptions`. */
export type LeaderElectionOptions = Partial<
  Pick<LeaderElectorOptions, 'identity' | 'name' | 'namespace' | 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'>
>;

/** Which cluster, and how its pods are scheduled. One of `kubeConfig` and `transport` is needed. */
export interface ClusterSchedulerOptions extends Omit<SchedulerOptions, 'client'> {
  /** The server to ask. One of this and `transport` is needed. */
  readonly kubeConfig?: ClientConfig;
  /** A transport shared with others; `stop()` leaves it open. */
  readonly transport?: KubeTransport;
  /** False: no other scheduler with these names runs, and none is waited for. Default: the Lease `kube-system/kube-scheduler`. */
  readonly leaderElection?: false | LeaderElectionOptions;
  /**
   * True: a process that stands by lists and watches nothing before it leads, which saves its memory and makes a change of leaders slower.
   * `start()` then resolves once it contends for the Lease. Without leader election it changes nothing. Default false.
   */
  readonly delayCacheUntilActive?: boolean;
  /** Tells this process from others, in the Lease and in events. Default: the host's name and a UUID; `random` has no part in it. */
  readonly identity?: string;
  /** The most requests that change pods, and apart from them the most events. Default: no limit but the server's. */
  readonly requestLimit?: RateLimiterOptions;
  /** Goes to every part. Default: nothing is measured. */
  readonly metrics?: MetricsSink;
}

interface ResolvedClusterOptions {
  readonly given: ClusterSchedulerOptions;
  /** What goes on to the scheduler within. */
  readonly scheduler: Omit<SchedulerOptions, 'client'>;
  readonly election: LeaderElectionOptions | undefined;
  readonly delayCacheUntilActive: boolean;
  readonly identity: string;
  readonly requestLimit: RateLimiterOptions | undefined;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly random: () => number;
}

const ownOptions = ['kubeConfig', 'transport', 'leaderElection', 'delayCacheUntilActive', 'identity', 'requestLimit'];
const electionOptions = ['identity', 'name', 'namespace', 'leaseDurationMs', 'renewDeadlineMs', 'retryPeriodMs'];
const passedOn = schedulerOptionNames.filter((name) => name !== 'client');

/** Throws ERR_INVALID_OPTION, naming the option, the rule and the value; what belongs to a part is checked by the part. */
function resolveClusterOptions(options: ClusterSchedulerOptions): ResolvedClusterOptions {
  requireKnownOptions('options', options, [...ownOptions, ...passedOn]);
  const { kubeConfig, transport, leaderElection = {}, clock = systemClock, random = Math.random } = options;
  if ((kubeConfig === undefined) === (transport === undefined)) {
    throw invalidOption('kubeConfig', 'given, or else `transport`, and not both', kubeConfig);
  }
  if (transport !== undefined) requireMethods('transport', transport, ['request', 'stream']);
  requireMethods('clock', clock, ['now', 'setTimer']);
  if (typeof random !== 'function') throw invalidOption('random', 'a function', random);
  if (leaderElection !== false) requireKnownOptions('leaderElection', leaderElection, electionOptions);
  const { identity = `${hostname()}_${randomUUID()}`, delayCacheUntilActive = false } = options;
  if (typeof identity !== 'string' || identity === '') throw invalidOption('identity', 'a non-empty string', identity);
  const entries = Object.entries(options).filter(([name]) => passedOn.includes(name));
  return {
    given: options,
    scheduler: Object.fromEntries(entries) as Omit<SchedulerOptions, 'client'>,
    election: leaderElection === false ? undefined : leaderElection,
    delayCacheUntilActive: optionOfType('delayCacheUntilActive', delayCacheUntilActive, 'boolean'),
    requestLimit: checkedRequestLimit(options.requestLimit),
    identity,
    clock: safeClock(clock),
    random,
    logger: loggerOption(options.logger),
  };
}
