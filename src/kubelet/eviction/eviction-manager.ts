// Behaviour of pkg/kubelet/eviction/eviction_manager.go, v1.36.3, with hard thresholds alone.

import type { Pod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import { bytesText } from '../../api/quantity/quantity.ts';
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
import { wholeOf } from '../resize/pod-allocation.ts';
import {
  cleanupWait,
  type EvictionManagerOptions,
  freshenPatienceMs,
  type MetThreshold,
  metThresholds,
  signalKinds,
  type Threshold,
  tellNode,
  thresholdsOf,
  thresholdText,
} from './eviction-options.ts';
import { rankForEviction } from './ranking.ts';
import { hasStorageLimit, storageLimitMessage } from './read-usage.ts';
import type { ContainerUsage, NodeUsage, PodUsage } from './usage.ts';

/** Signals of a file system that this agent does not tell from the others. */
const replacedSignals = ['containerfs.available', 'containerfs.inodesFree'];

/**
 * Looks again and again at what the node has left. While something runs short it frees the disk, and then evicts one pod after the
 * other; and it evicts every pod that keeps more on the disk than its limits allow. Critical pods are never evicted. What cannot be
 * read evicts nobody. Without thresholds the node is looked at only while there are pods with such limits.
 */
export class EvictionManager {
  readonly #options: EvictionManagerOptions;
  readonly #clock: SteadyClock;
  readonly #thresholds: readonly Threshold[];
  readonly #pressure: Pressure;
  readonly #failures: FailureRun;
  readonly #stopping = new AbortController();
  #run: Promise<void> = Promise.resolve();

  constructor(options: EvictionManagerOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#thresholds = thresholdsOf(options.evictionHard);
    this.#pressure = new Pressure(options.transitionPeriodMs ?? 300_000);
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
    return this.#pressure.shortages;
  }

  /** What counts as running short, for the node's conditions and for admission. */
  get pressures(): Required<NodePressures> {
    return this.#pressure.current;
  }

  start(): void {
    const { evictionHard, logger } = this.#options;
    for (const signal of replacedSignals.filter((name) => evictionHard[name] !== undefined)) {
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
    const { logger, periodMs = 10_000 } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const evicted = await this.#look(signal).then(
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
      else await sleep(this.#clock, periodMs, signal);
    }
  }

  /** Resolves with the pods that were evicted. */
  async #look(stopped: AbortSignal): Promise<readonly Pod[]> {
    const active = this.#options.activePods();
    if (this.#thresholds.length === 0 && !active.some(hasStorageLimit)) return [];
    const node = await this.#limited((signal) => this.#options.readNode(signal), stopped);
    const met = this.#observe(node);
    const overLimit = await this.#evictOverLimit(active, node, stopped);
    if (overLimit.length > 0) return overLimit;
    const [worst] = met;
    if (worst === undefined) return [];
    const { resource, pressure } = signalKinds[worst.signal];
    tellNode(this.#options, 'EvictionThresholdMet', `Attempting to reclaim ${resource}`);
    if (pressure === 'disk' && (await this.#freedDisk(stopped))) return [];
    if (pressure === 'disk') await this.#freshenFiles(stopped);
    const usages = await this.#limited((signal) => this.#options.readPods(active, signal, resource), stopped);
    for (const pod of rankForEviction(worst.signal, active, usages, node.hasDedicatedImagefs)) {
      const message = lowResourceMessage(worst, pod, usages.get(podUIDOf(pod)));
      if (await this.#evict(pod, message, true)) return [pod];
    }
    this.#options.logger.warn({ signal: worst.signal }, 'no pod can be evicted');
    return [];
  }

  #observe(node: NodeUsage): MetThreshold[] {
    const { pressureChanged = () => undefined, logger } = this.#options;
    const met = metThresholds(this.#thresholds, node);
    const before = this.pressures;
    if (this.#pressure.observe(met, this.#clock)) {
      for (const shortage of this.shortages) if (!before[shortage.pressure]) this.#tellShortage(shortage);
      if (this.shortages.length === 0) logger.info({}, 'the node runs short of nothing any more');
      callGuarded(pressureChanged, (err) => logger.error({ err }, 'pressureChanged failed'));
    }
    return met;
  }

  #tellShortage({ pressure, message: reason, since }: NodeShortage): void {
    const problem = problemFields({ ...helped(`${pressure}-pressure`), since }, this.#clock.now());
    this.#options.logger.warn({ reason, ...problem }, 'the node runs short, and takes fewer pods');
  }

  async #evictOverLimit(active: readonly Pod[], node: NodeUsage, stopped: AbortSignal): Promise<Pod[]> {
    const limited = active.filter(hasStorageLimit);
    if (limited.length === 0) return [];
    const usages = await this.#limited((signal) => this.#options.readPods(limited, signal, undefined), stopped);
    const evicted: Pod[] = [];
    for (const pod of limited) {
      const usage = usages.get(podUIDOf(pod));
      const message = usage && storageLimitMessage(pod, usage, node.hasDedicatedImagefs);
      if (message !== undefined && (await this.#evict(pod, message, false))) evicted.push(pod);
    }
    return evicted;
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

  /** True when nothing runs short any more. */
  async #freedDisk(stopped: AbortSignal): Promise<boolean> {
    const { freeDisk, readNode, logger } = this.#options;
    if (freeDisk === undefined) return false;
    try {
      await this.#limited(freeDisk, stopped);
    } catch (err) {
      if (!stopped.aborted) logger.warn({ err }, 'the disk could not be freed');
    }
    stopped.throwIfAborted();
    const node = await this.#limited(readNode, stopped);
    return metThresholds(this.#thresholds, node).length === 0;
  }

  /** False for a pod that must stay. A pod whose end takes too long counts as evicted: it is on its way. */
  async #evict(pod: Pod, message: string, disrupts: boolean): Promise<boolean> {
    const { eventRecorder = noEvents, killPod, logger } = this.#options;
    const { signal } = this.#stopping;
    if (signal.aborted || isCriticalPod(pod)) return false;
    safeEventRecorder(eventRecorder).event(pod, 'Warning', evictedReason, message);
    const problem = problemFields(problemOfStatus({ phase: 'Failed', reason: evictedReason, message }) ?? {});
    logger.warn({ ...podFields(pod.metadata), reason: message, ...problem }, 'a pod is evicted');
    try {
      await untilAborted(killPod(pod, evictionKill(pod, message, disrupts, this.#clock.now())), signal);
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

/** How a pod is killed that is evicted: at once, and Failed for good. `disrupts`: its status has the condition DisruptionTarget. */
function evictionKill(pod: Pod, message: string, disrupts: boolean, now: number): KillNowOptions {
  return {
    evict: true,
    gracePeriodSeconds: 0,
    podStatusFn: (status) => {
      status.phase = 'Failed';
      status.reason = evictedReason;
      status.message = message;
      if (disrupts) setDisruptionTarget(status, pod, message, now);
    },
  };
}

// Behaviour of pkg/kubelet/eviction/helpers.go (nodeConditionsObservedSince), v1.36.3.

/** Something that the node runs short of. */
export interface NodeShortage {
  readonly pressure: keyof NodePressures;
  /** `memory.available: Threshold quantity: 100Mi, available: 95Mi`. */
  readonly message: string;
  /** In milliseconds since the epoch. */
  readonly since: number;
}

/** What runs short, and for a while afterwards still counts as running short, so that pods do not come and go. */
class Pressure {
  readonly #transitionPeriodMs: number;
  readonly #lastSeen = new Map<keyof NodePressures, number>();
  readonly #shortages = new Map<keyof NodePressures, NodeShortage>();
  #now: Required<NodePressures> = { memory: false, disk: false, pid: false };

  constructor(transitionPeriodMs: number) {
    this.#transitionPeriodMs = transitionPeriodMs;
  }

  get current(): Required<NodePressures> {
    return this.#now;
  }

  get shortages(): readonly NodeShortage[] {
    return [...this.#shortages.values()];
  }

  /** True when this changes what counts. */
  observe(met: readonly MetThreshold[], clock: SteadyClock): boolean {
    const now = clock.elapsed();
    for (const threshold of met.toReversed()) {
      const { signal } = threshold;
      const { pressure } = signalKinds[signal];
      this.#lastSeen.set(pressure, now);
      const since = this.#shortages.get(pressure)?.since ?? clock.now();
      this.#shortages.set(pressure, { pressure, since, message: `${signal}: ${thresholdText(threshold).trim()}` });
    }
    const isUnder = (name: keyof NodePressures): boolean => {
      const seen = this.#lastSeen.get(name);
      return seen !== undefined && now - seen < this.#transitionPeriodMs;
    };
    const before = this.#now;
    this.#now = { memory: isUnder('memory'), disk: isUnder('disk'), pid: isUnder('pid') };
    for (const name of this.#shortages.keys()) if (!this.#now[name]) this.#shortages.delete(name);
    return before.memory !== this.#now.memory || before.disk !== this.#now.disk || before.pid !== this.#now.pid;
  }
}

// Behaviour of pkg/kubelet/eviction/helpers.go (evictionMessage), v1.36.3.

/** Why a pod is evicted because the node runs short. */
function lowResourceMessage(threshold: MetThreshold, { spec }: Pod, usage: PodUsage | undefined): string {
  const { resource } = signalKinds[threshold.signal];
  const blamed = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].flatMap(({ name, resources }) => {
    const used = usedOf(resource, usage?.containers[name]);
    const request = wholeOf(resources?.requests?.[resource]);
    if (used === undefined || used <= request) return [];
    const asked = request === 0 ? '0' : bytesText(request);
    return [`Container ${name} was using ${bytesText(used)}, request is ${asked}, has larger consumption of ${resource}. `];
  });
  return `The node was low on resource: ${resource}. ${thresholdText(threshold)}${blamed.join('')}`;
}

function usedOf(resource: string, usage: ContainerUsage | undefined): number | undefined {
  if (resource === 'memory') return usage?.memory;
  if (resource !== 'ephemeral-storage' || usage?.rootfs === undefined || usage.logs === undefined) return undefined;
  return usage.rootfs.bytes + usage.logs.bytes;
}
