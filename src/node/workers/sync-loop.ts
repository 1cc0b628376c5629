// Behaviour of syncLoop and syncLoopIteration in pkg/kubelet/kubelet.go, v1.36.3.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RunningPod } from '../../api/pod/runtime-pod.ts';
import { BoundedChannel } from '../../base/concurrency/bounded-channel.ts';
import { RunState, type RunStateName } from '../../base/concurrency/run-state.ts';
import { KeyedTimers } from '../../base/concurrency/timers.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { beginAtZero } from '../../base/metrics/metrics.ts';
import { requireText } from '../../base/options.ts';
import type { PodProblem } from '../../base/problem.ts';
import type { PodUpdate } from '../config/pod-changes.ts';
import { Housekeeping } from './housekeeping.ts';
import { PodDispatch } from './pod-dispatch.ts';
import { listRunningPods, type ResolvedLoopOptions, resolveLoopOptions, type SyncLoopOptions } from './sync-loop-options.ts';

/** What the loop wakes up for. */
type Hint = 'update' | 'due' | 'changed' | 'admission' | 'housekeeping' | 'listed';

const hintCount = 6;
/** The wait after a work queue that called a pod due and gave none. */
const emptyQueueMs = 1000;

/**
 * The one place where an agent decides what is done next: changes of pods, pods that are due again, pods of which something
 * has changed on the node, and, every two seconds, a look at all pods. One of them is handled at a time, to its end, without a
 * wait; the workers do what takes time. What fails in one iteration is logged, and the next begins.
 *
 * @example
 * ```ts
 * import { BasicPodManager, StatusManager } from 'pod-status-manager';
 * import { PodConfig, PodWorkers, SyncLoop } from 'pod-status-manager/node';
 * import { buildPod, FakePodClient } from 'pod-status-manager/testing';
 *
 * const { promise: synced, resolve } = Promise.withResolvers<string | undefined>();
 * const nothing = { podUID: 'uid-of-pod-1', ips: [], containers: [], sandboxes: [] };
 * const podWorkers = new PodWorkers({
 *   podSyncer: {
 *     syncPod: async ({ pod }) => void resolve(pod.metadata?.name),
 *     syncTerminatingPod: async () => {},
 *     syncTerminatingRuntimePod: async () => {},
 *     syncTerminatedPod: async () => {},
 *   },
 *   runtimeStatusCache: { get: () => nothing, getNewerThan: async () => nothing },
 * });
 * const { workQueue } = podWorkers;
 * const podManager = new BasicPodManager();
 * const statusManager = new StatusManager({ podClient: new FakePodClient(), podManager, podDeletionSafety: podWorkers });
 * const config = new PodConfig();
 * const loop = new SyncLoop({ config, podManager, podWorkers, workQueue, statusManager });
 * config.channel('own')([buildPod()]);
 * loop.start();
 * config.start();
 * console.log(await synced); // pod-1
 * await config.stop();
 * await loop.stop();
 * await podWorkers.stop();
 * ```
 */
export class SyncLoop {
  readonly #options: ResolvedLoopOptions;
  readonly #dispatch: PodDispatch;
  readonly #housekeeping: Housekeeping;
  readonly #runState = new RunState('sync loop');
  readonly #hints = new BoundedChannel<Hint>(hintCount);
  readonly #timers: KeyedTimers<'housekeeping' | 'due'>;
  readonly #stopping = new AbortController();
  readonly #handlers: Readonly<Record<Hint, () => void>>;
  /** The sources of which an update has been handled. */
  readonly #seenSources = new Set<string>();
  #updates: AsyncIterator<PodUpdate, unknown> | undefined;
  #update: PodUpdate | undefined;
  /** True while the next update is waited for. */
  #isReading = false;
  #changed = new Set<string>();
  #listed: readonly RunningPod[] | undefined;
  #isListing = false;
  /** When the last iteration has ended, by `clock.elapsed()`. */
  #lastIteration: number | undefined;
  #run: Promise<void> | undefined;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. Starts nothing. */
  constructor(options: SyncLoopOptions) {
    this.#options = resolveLoopOptions(options);
    this.#dispatch = new PodDispatch(this.#options, () => this.#hints.trySend('admission'));
    this.#housekeeping = new Housekeeping(this.#options, this.#dispatch);
    this.#timers = new KeyedTimers(this.#options.clock);
    this.#handlers = {
      update: () => this.#handleUpdate(),
      due: () => this.#syncDuePods(),
      changed: () => this.#syncChangedPods(),
      admission: () => this.#dispatch.beginDue(),
      housekeeping: () => this.#housekeep(),
      listed: () => this.#endOrphans(),
    };
  }

  /** `idle`, `running`, `stopping` or `stopped`. */
  get state(): RunStateName {
    return this.#runState.name;
  }

  /** Throws ERR_ALREADY_STARTED on a second call, ERR_STOPPED after `stop`. */
  start(): void {
    this.#runState.start();
    beginAtZero(this.#options.metrics, ['kubelet_restarted_pods_total', 'kubelet_orphaned_runtime_pods_total']);
    this.#updates = callGuarded(
      () => this.#options.config.updates(),
      (err) => this.#options.logger.error({ err }, 'the sync loop gets no updates'),
    );
    this.#readUpdate();
    this.#awaitDuePods();
    this.#setTimer('housekeeping', this.#options.housekeepingIntervalMs);
    this.#run = this.#loop();
  }

  /** Resolves once no iteration is under way and no timer is left. Every call after the first returns the first one's promise. */
  stop(): Promise<void> {
    return this.#runState.stop(async () => {
      this.#stopping.abort();
      this.#hints.close();
      this.#timers.cancelAll();
      this.#dispatch.stop();
      callGuarded(() => this.#updates?.return?.(), ignoreFailure);
      await this.#run;
      this.#housekeeping.end();
    });
  }

  /** The same as `stop()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /**
   * Something of this pod has changed on the node: its runtime, a probe's result. It is synced soon. Calls before the sync
   * count as one; a uid of no pod is passed over. Throws ERR_INVALID_ARGUMENT for what is no uid.
   */
  podChanged(podUID: string): void {
    requireText('podUID', podUID);
    if (this.state !== 'running') return;
    const { podManager } = this.#options;
    // what floods the loop with uids that it has no pod of costs no memory; the next look finds what runs of such a pod
    if (callGuarded(() => podManager.getPodByUID(podUID), ignoreFailure) === undefined) {
      this.#housekeeping.lookAgain();
      return;
    }
    this.#changed.add(podUID);
    this.#hints.trySend('changed');
  }

  /**
   * What is wrong with pods that have not begun: `admitPod` gives no answer for them (kind `admission`). They are asked for again, at the
   * `retryAt` of each.
   */
  problems(): readonly PodProblem[] {
    return this.#dispatch.problems();
  }

  /** The same of one pod; undefined for every pod of which nothing of that kind is wrong. */
  problemOf(podUID: string): PodProblem | undefined {
    return this.#dispatch.problemOf(podUID);
  }

  /** True once an update of every source has been handled: from then on a pod that is missing counts as gone. */
  sourcesReady(): boolean {
    const { config, logger } = this.#options;
    const failed = (err: unknown): void => logger.error({ err }, 'the sources failed to say whether they are ready');
    return callGuarded(() => config.seenAllSources(this.#seenSources), failed) === true;
  }

  /**
   * When the last iteration has ended, in milliseconds since the epoch by the clock as it is now; undefined before the first. For
   * health checks.
   */
  lastIterationAt(): number | undefined {
    if (this.#lastIteration === undefined) return undefined;
    const { clock } = this.#options;
    return Math.round(clock.now() + this.#lastIteration - clock.elapsed());
  }

  async #loop(): Promise<void> {
    while (await this.#hints.readable()) {
      const hint = this.#hints.tryReceive();
      if (hint !== undefined) {
        callGuarded(this.#handlers[hint], (err) =>
          this.#options.logger.error({ err, hint }, 'an iteration of the sync loop failed'),
        );
        this.#lastIteration = this.#options.clock.elapsed();
      }
      // what the iteration has begun comes before the next one
      await nextTurn();
      if (this.#isReading) this.#noteCaughtUp();
    }
  }

  /** Every update that there was has been handled: the next one is still waited for. */
  #noteCaughtUp(): void {
    const { onCaughtUp, logger } = this.#options;
    if (onCaughtUp !== undefined) callGuarded(onCaughtUp, (err) => logger.error({ err }, 'onCaughtUp failed'));
  }

  #readUpdate(): void {
    const updates = this.#updates;
    if (updates === undefined) return;
    const read = async (): Promise<void> => {
      const { done, value } = await updates.next();
      this.#isReading = false;
      if (done) return;
      this.#update = value;
      this.#hints.trySend('update');
    };
    this.#isReading = true;
    read().catch((err) => {
      this.#isReading = false;
      this.#options.logger.error({ err }, 'the updates of pods have failed; none follow');
    });
  }

  #handleUpdate(): void {
    const update = this.#update;
    this.#update = undefined;
    try {
      if (update === undefined) return;
      this.#dispatch.apply(update, () => this.sourcesReady());
      this.#seenSources.add(update.source);
    } finally {
      this.#readUpdate();
    }
  }

  #awaitDuePods(): void {
    const { workQueue, logger } = this.#options;
    const failed = (err: unknown): void => {
      logger.error({ err }, 'the work queue has failed; it is asked again');
      this.#setTimer('due', emptyQueueMs);
    };
    const wait = async (): Promise<void> => {
      await workQueue.readable();
      this.#hints.trySend('due');
    };
    wait().catch(failed);
  }

  #syncDuePods(): void {
    const { workQueue, logger } = this.#options;
    const podUIDs = callGuarded(
      () => workQueue.getWork(),
      (err) => logger.error({ err }, 'the work queue has failed; it is asked again'),
    );
    const due = Array.isArray(podUIDs) ? (podUIDs as readonly string[]) : [];
    this.#dispatch.syncs(due);
    if (due.length > 0) this.#awaitDuePods();
    else this.#setTimer('due', emptyQueueMs);
  }

  #syncChangedPods(): void {
    const changed = this.#changed;
    this.#changed = new Set();
    this.#dispatch.syncs(changed);
  }

  #housekeep(): void {
    this.#setTimer('housekeeping', this.#options.housekeepingIntervalMs);
    // a pod of a source that has not been heard from would count as gone
    if (!this.sourcesReady()) {
      this.#options.logger.debug({ heard: [...this.#seenSources] }, 'not every source was heard from; no pod counts as gone');
      return;
    }
    if (this.#housekeeping.mayBeLeftOut) return;
    // a list that is there, but not handled yet, is as old as one that is waited for
    this.#housekeeping.lookAtPods(this.#isListing || this.#listed !== undefined);
    if (!this.#isListing) this.#list();
  }

  #list(): void {
    const { runtime, clock, listTimeoutMs, logger } = this.#options;
    if (runtime === undefined) {
      this.#housekeeping.endOrphans([]);
      return;
    }
    this.#isListing = true;
    const limits = { clock, timeoutMs: listTimeoutMs, signal: this.#stopping.signal };
    listRunningPods(runtime, limits)
      .then(
        (listed) => {
          this.#listed = listed;
          this.#hints.trySend('listed');
        },
        (err: unknown) => {
          if (this.state === 'running') logger.error({ err }, 'the runtime gave no list; orphans are looked for later');
        },
      )
      .finally(() => {
        this.#isListing = false;
      })
      .catch(ignoreFailure);
  }

  #endOrphans(): void {
    const listed = this.#listed;
    this.#listed = undefined;
    if (listed !== undefined) this.#housekeeping.endOrphans(listed);
  }

  #setTimer(name: 'housekeeping' | 'due', delayMs: number): void {
    if (this.state !== 'running') return;
    const fire = (): void => {
      if (name === 'due') this.#awaitDuePods();
      else this.#hints.trySend('housekeeping');
    };
    callGuarded(
      () => this.#timers.set(name, delayMs, fire),
      (err) => this.#options.logger.error({ err, timer: name }, 'the clock set no timer for the sync loop'),
    );
  }
}
