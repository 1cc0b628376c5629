// Behaviour of pkg/kubelet/eviction/eviction_manager.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import { type SteadyClock, sleep } from '../../base/clock.ts';
import { callWithin, LinkedAbort, settlesWithin, untilAborted } from '../../base/concurrency/aborts.ts';
import { type Failing, FailureRun } from '../../base/failure-run.ts';
import { callGuarded } from '../../base/guard.ts';
import { problemFields } from '../../base/problem.ts';
import { noEvents, safeEventRecorder } from '../../client/events/event-recorder.ts';
import type { NodePressures } from '../../node/node-object/node-conditions.ts';
import { setDisruptionTarget } from '../../node/pod-status/disruption-target.ts';
import { helped } from '../../node/problem-help.ts';
import type { KillNowOptions } from '../../node/workers/workers-options.ts';
import { problemOfStatus } from '../../status/rules/status-problem.ts';
import { isCriticalPod } from '../admission/pod-admission.ts';
import { type EvictionWords, evictionWords } from './eviction-message.ts';
import { cleanupWait, type EvictionManagerOptions, freshenPatienceMs, memoryPeriodMs, tellNode } from './eviction-options.ts';
import { rankForEviction } from './ranking.ts';
import { hasStorageLimit, storageLimitMessage } from './read-usage.ts';
import { type NodeShortage, ThresholdWatch } from './threshold-watch.ts';
import {
  isOfContainers,
  type MetThreshold,
  metThresholds,
  oneDisk,
  reclaimablesOf,
  signalKinds,
  type Threshold,
  thresholdsOf,
} from './thresholds.ts';
import type { NodeUsage } from './usage.ts';

/**
 * Looks again and again at what the node has left. While something runs short it frees the disk, and then evicts one pod after the
 * other, for a soft threshold once its grace period is over; and it evicts every pod that keeps more on the disk than its limits
 * allow. Critical pods are never evicted. What cannot be read evicts nobody. Without thresholds the node is looked at only while there
 * are pods with such limits.
 */
export class EvictionManager {
  readonly #options: EvictionManagerOptions;
  readonly #clock: SteadyClock;
  readonly #watch: ThresholdWatch;
  readonly #failures: FailureRun;
  readonly #stopping = new AbortController();
  #isMemoryShort = false;
  #run: Promise<void> = Promise.resolve();

  constructor(options: EvictionManagerOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#watch = new ThresholdWatch(options.transitionPeriodMs ?? 300_000);
    this.#failures = new FailureRun(options.clock, (ended) =>
      options.logger.info(ended, 'what the node has left can be looked at again'),
    );
  }

  /** Why the node could not be looked at; undefined while all is well. */
  get failing(): Failing | undefined {
    return this.#failures.failing;
  }

  /** What counts as running short, in words. */
  get shortages(): readonly NodeShortage[] {
    return this.#watch.shortages;
  }

  /** What counts as running short, for the node's conditions and for admission. */
  get pressures(): Required<NodePressures> {
    return this.#watch.pressures;
  }

  start(): void {
    const { evictionHard, evictionSoft = {}, logger } = this.#options;
    for (const signal of Object.keys({ ...evictionHard, ...evictionSoft }).filter(isOfContainers)) {
      logger.warn({ signal }, 'a threshold of containerfs does nothing: those of nodefs or imagefs count in its place');
    }
    this.#run = this.#lookOnAndOn();
  }

  /** Resolves once no look is under way. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#run;
  }

  async #lookOnAndOn(): Promise<void> {
    const { logger } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const evicted = await this.look(signal).then(
        (pods) => {
          this.#failures.succeeded();
          return pods;
        },
        (err: unknown) => {
          if (signal.aborted) return [];
          const problem = { ...this.#failures.failed(err), ...helped('eviction') };
          logger.warn(
            { err, ...problemFields(problem, this.#clock.now()) },
            'what the node has left could not be looked at; it is looked at again',
          );
          return [];
        },
      );
      if (evicted.length > 0) await this.#waitForCleanup(evicted, signal);
      else await this.#rest(signal);
    }
  }

  /** Looks once, and does what there is to do. Resolves with the pods that were evicted; rejects where something cannot be read. */
  async look(stopped: AbortSignal): Promise<readonly Pod[]> {
    const active = this.#options.activePods();
    if (thresholdsOf(this.#options).length === 0 && !active.some((pod) => this.#mayBeOverLimit(pod))) return [];
    const node = await this.#limited((signal) => this.#options.readNode(signal), stopped);
    const thresholds = thresholdsOf(this.#options, node);
    const [worst] = this.#observe(thresholds, node);
    const overLimit = await this.#evictOverLimit(active, node, stopped);
    if (overLimit.length > 0 || worst === undefined) return overLimit;
    const { resource, pressure } = signalKinds[worst.signal];
    tellNode(this.#options, 'EvictionThresholdMet', `Attempting to reclaim ${resource}`);
    if (await this.#isReclaimed(worst, thresholds, node, stopped)) return [];
    if (pressure === 'disk') await this.#freshenFiles(stopped);
    const usages = await this.#limited((signal) => this.#options.readPods(active, signal, resource), stopped);
    for (const pod of rankForEviction(worst.signal, active, usages, node)) {
      const words = evictionWords(worst, pod, usages.get(podUIDOf(pod)));
      if (await this.#evict(pod, words, this.#gracePeriodSeconds(pod, worst), true)) return [pod];
    }
    this.#options.logger.warn({ signal: worst.signal }, 'no pod can be evicted');
    return [];
  }

  /** Until the next look is due, or the memory runs short. */
  async #rest(stopped: AbortSignal): Promise<void> {
    const { periodMs = 10_000, readMemory } = this.#options;
    const hard = thresholdsOf(this.#options).filter(
      ({ signal, graceMs }) => signalKinds[signal].pressure === 'memory' && graceMs === 0,
    );
    // it is no news of a memory that was short at the last look
    if (readMemory === undefined || hard.length === 0 || this.#isMemoryShort) return sleep(this.#clock, periodMs, stopped);
    const until = this.#clock.elapsed() + periodMs;
    for (let left = periodMs; left > 0 && !stopped.aborted; left = until - this.#clock.elapsed()) {
      await sleep(this.#clock, Math.min(memoryPeriodMs, left), stopped);
      const memory = await this.#limited(readMemory, stopped).catch(() => ({}));
      if (metThresholds(hard, { ...memory, ...oneDisk }).length > 0) return;
    }
  }

  /** Those for which pods have to go, the most urgent one first. */
  #observe(thresholds: readonly Threshold[], node: NodeUsage): readonly MetThreshold[] {
    const { pressureChanged = () => undefined, logger } = this.#options;
    const before = this.pressures;
    const { due, isChanged } = this.#watch.observe(thresholds, node, this.#clock);
    this.#isMemoryShort = due.some(({ signal }) => signalKinds[signal].pressure === 'memory');
    if (isChanged) {
      for (const shortage of this.shortages) if (!before[shortage.pressure]) this.#tellShortage(shortage);
      if (this.shortages.length === 0) logger.info({}, 'the node runs short of nothing any more');
      callGuarded(pressureChanged, (err) => logger.error({ err }, 'pressureChanged failed'));
    }
    return due;
  }

  #tellShortage({ pressure, message: reason, since }: NodeShortage): void {
    const problem = problemFields({ ...helped(`${pressure}-pressure`), since }, this.#clock.now());
    this.#options.logger.warn({ reason, ...problem }, 'the node runs short, and takes fewer pods');
  }

  async #evictOverLimit(active: readonly Pod[], node: NodeUsage, stopped: AbortSignal): Promise<Pod[]> {
    const limited = active.filter((pod) => this.#mayBeOverLimit(pod));
    if (limited.length === 0) return [];
    const usages = await this.#limited((signal) => this.#options.readPods(limited, signal, undefined), stopped);
    const evicted: Pod[] = [];
    for (const pod of limited) {
      const usage = usages.get(podUIDOf(pod));
      const message = usage && storageLimitMessage(pod, usage, node.hasDedicatedImagefs);
      if (message === undefined) continue;
      if (await this.#evict(pod, { message, annotations: {} }, promptSeconds, false)) evicted.push(pod);
    }
    return evicted;
  }

  #mayBeOverLimit(pod: Pod): boolean {
    const { localStorageCapacityIsolation = true } = this.#options;
    return localStorageCapacityIsolation && hasStorageLimit(pod);
  }

  #gracePeriodSeconds({ spec }: Pod, { graceMs }: MetThreshold): number {
    const { maxPodGracePeriodSeconds = 0 } = this.#options;
    if (graceMs === 0) return promptSeconds;
    return Math.min(maxPodGracePeriodSeconds, spec?.terminationGracePeriodSeconds ?? maxPodGracePeriodSeconds);
  }

  async #freshenFiles(stopped: AbortSignal): Promise<void> {
    const { freshenFiles = async () => undefined, logger } = this.#options;
    const over = new LinkedAbort(stopped);
    const call = freshenFiles(over.signal).catch((err: unknown) => {
      if (!over.signal.aborted) logger.warn({ err }, 'files of pods could not be counted; what is known of them counts');
    });
    await settlesWithin(call, { clock: this.#clock, timeoutMs: freshenPatienceMs, signal: stopped });
    over.abort();
    over.release();
    stopped.throwIfAborted();
  }

  /** True when nothing runs short any more, with what has to be reclaimed. */
  async #isReclaimed({ signal }: MetThreshold, thresholds: readonly Threshold[], node: NodeUsage, stopped: AbortSignal) {
    const { reclaim, readNode, logger } = this.#options;
    const reclaimables = reclaimablesOf(signal, node);
    if (reclaim === undefined || reclaimables.length === 0) return false;
    for (const what of reclaimables) {
      try {
        await this.#limited((limit) => reclaim(what, limit), stopped);
      } catch (err) {
        if (!stopped.aborted) logger.warn({ err, signal }, 'the disk could not be freed');
      }
      stopped.throwIfAborted();
    }
    return metThresholds(thresholds, await this.#limited(readNode, stopped), true).length === 0;
  }

  /** False for a pod that must stay. A pod whose end takes too long counts as evicted: it is on its way. */
  async #evict(pod: Pod, { message, annotations }: EvictionWords, graceSeconds: number, disrupts: boolean): Promise<boolean> {
    const { eventRecorder = noEvents, killPod, logger } = this.#options;
    const { signal } = this.#stopping;
    if (signal.aborted || isCriticalPod(pod)) return false;
    safeEventRecorder(eventRecorder).event(pod, 'Warning', evictedReason, message, undefined, annotations);
    const problem = problemFields(problemOfStatus({ phase: 'Failed', reason: evictedReason, message }) ?? {});
    logger.warn({ ...podFields(pod.metadata), reason: message, ...problem }, 'a pod is evicted');
    try {
      await untilAborted(killPod(pod, evictionKill(pod, { message, graceSeconds, disrupts, now: this.#clock.now() })), signal);
    } catch (err) {
      if (!signal.aborted) logger.warn({ err, ...podFields(pod.metadata) }, 'an evicted pod has not ended');
    }
    return true;
  }

  async #waitForCleanup(pods: readonly Pod[], signal: AbortSignal): Promise<void> {
    const { isCleanedUp, logger } = this.#options;
    const deadline = this.#clock.elapsed() + cleanupWait.timeoutMs;
    const isGone = (pod: Pod): boolean =>
      callGuarded(
        () => isCleanedUp(pod),
        (err) => logger.error({ err, ...podFields(pod.metadata) }, 'isCleanedUp failed'),
      ) === true;
    do await sleep(this.#clock, cleanupWait.pollMs, signal);
    while (!signal.aborted && this.#clock.elapsed() < deadline && !pods.every(isGone));
  }

  /** Rejects when the time is over, whatever the call does then. */
  #limited<T>(call: (signal: AbortSignal) => Promise<T>, stopped: AbortSignal): Promise<T> {
    const { timeoutMs = 60_000 } = this.#options;
    const late = (): Error => new Error(`no answer within ${timeoutMs} ms`);
    return callWithin(call, { clock: this.#clock, timeoutMs, signal: stopped, late });
  }
}

// Behaviour of pkg/kubelet/eviction/eviction_manager.go (evictPod), v1.36.3.

/** The reason in the pod's status and of the event. */
const evictedReason = 'Evicted';

/** The grace period of a pod that has to go at once, in seconds. */
const promptSeconds = 1;

interface EvictionKill {
  readonly message: string;
  readonly graceSeconds: number;
  /** True: the pod's status has the condition DisruptionTarget. */
  readonly disrupts: boolean;
  readonly now: number;
}

/** How a pod is killed that is evicted: it is Failed for good. */
function evictionKill(pod: Pod, { message, graceSeconds, disrupts, now }: EvictionKill): KillNowOptions {
  return {
    evict: true,
    gracePeriodSeconds: graceSeconds,
    podStatusFn: (status) => {
      status.phase = 'Failed';
      status.reason = evictedReason;
      status.message = message;
      if (disrupts) setDisruptionTarget(status, pod, message, now);
    },
  };
}
