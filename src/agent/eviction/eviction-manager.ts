// Behaviour of pkg/kubelet/eviction/eviction_manager.go, v1.36.3, with hard thresholds alone.
import type { NodePressures } from '../../node-object/node-health.ts';
import { noEvents, safeEventRecorder } from '../../pod/event-recorder.ts';
import { sleep } from '../../seams/clock.ts';
import { callGuarded } from '../../seams/guard.ts';
import type { Pod } from '../../wire/types.ts';
import { isCriticalPod } from '../admission/critical-pod.ts';
import { evictedReason, evictionKill } from './evict-pod.ts';
import { lowResourceMessage } from './eviction-messages.ts';
import { cleanupWait, type EvictionManagerOptions } from './eviction-options.ts';
import { Pressure } from './pressure.ts';
import { rankForEviction } from './ranking.ts';
import { type MetThreshold, metThresholds, signalKinds, type Threshold, thresholdsOf } from './signals.ts';
import { storageLimitMessage } from './storage-limits.ts';
import type { NodeUsage } from './usage.ts';

/**
 * Looks again and again at what the node has left. While something runs short it frees the disk, and then evicts one pod after the
 * other; and it evicts every pod that keeps more on the disk than its limits allow. Critical pods are never evicted. What cannot be
 * read evicts nobody. Without thresholds the node is looked at only while there are pods with such limits.
 */
export class EvictionManager {
  readonly #options: EvictionManagerOptions;
  readonly #thresholds: readonly Threshold[];
  readonly #pressure: Pressure;
  readonly #stopping = new AbortController();
  #run: Promise<void> = Promise.resolve();

  constructor(options: EvictionManagerOptions) {
    this.#options = options;
    this.#thresholds = thresholdsOf(options.evictionHard);
    this.#pressure = new Pressure(options.transitionPeriodMs ?? 300_000);
  }

  /** What counts as running short, for the node's conditions and for admission. */
  get pressures(): Required<NodePressures> {
    return this.#pressure.current;
  }

  start(): void {
    this.#run = this.#lookOnAndOn();
  }

  /** Resolves once no look is under way. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#run;
  }

  async #lookOnAndOn(): Promise<void> {
    const { clock, logger, periodMs = 10_000 } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const evicted = await this.#look(signal).catch((err: unknown) => {
        if (!signal.aborted) logger.warn({ err }, 'what the node has left could not be looked at; it is looked at again');
        return [];
      });
      if (evicted.length > 0) await this.#waitForCleanup(evicted, signal);
      else await sleep(clock, periodMs, signal);
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
    this.#tellNode('EvictionThresholdMet', `Attempting to reclaim ${resource}`);
    if (pressure === 'disk' && (await this.#freedDisk(stopped))) return [];
    const usages = await this.#limited((signal) => this.#options.readPods(active, signal), stopped);
    for (const pod of rankForEviction(worst.signal, active, usages, node.hasDedicatedImagefs)) {
      const message = lowResourceMessage(worst, pod, usages.get(pod.metadata?.uid ?? ''));
      if (await this.#evict(pod, message, true)) return [pod];
    }
    this.#options.logger.warn({ signal: worst.signal }, 'no pod can be evicted');
    return [];
  }

  #observe(node: NodeUsage): MetThreshold[] {
    const { clock, pressureChanged = () => undefined, logger } = this.#options;
    const met = metThresholds(this.#thresholds, node);
    if (this.#pressure.observe(met, clock.now())) {
      callGuarded(pressureChanged, (err) => logger.error({ err }, 'pressureChanged failed'));
    }
    return met;
  }

  async #evictOverLimit(active: readonly Pod[], node: NodeUsage, stopped: AbortSignal): Promise<Pod[]> {
    const limited = active.filter(hasStorageLimit);
    if (limited.length === 0) return [];
    const usages = await this.#limited((signal) => this.#options.readPods(limited, signal), stopped);
    const evicted: Pod[] = [];
    for (const pod of limited) {
      const usage = usages.get(pod.metadata?.uid ?? '');
      const message = usage && storageLimitMessage(pod, usage, node.hasDedicatedImagefs);
      if (message !== undefined && (await this.#evict(pod, message, false))) evicted.push(pod);
    }
    return evicted;
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
    const { eventRecorder = noEvents, killPod, clock, logger } = this.#options;
    if (this.#stopping.signal.aborted || isCriticalPod(pod)) return false;
    safeEventRecorder(eventRecorder).event(pod, 'Warning', evictedReason, message);
    try {
      await killPod(pod, evictionKill(pod, message, disrupts, clock.now()));
    } catch (err) {
      logger.warn({ err, podUID: pod.metadata?.uid }, 'an evicted pod has not ended');
    }
    return true;
  }

  async #waitForCleanup(pods: readonly Pod[], signal: AbortSignal): Promise<void> {
    const { clock, isCleanedUp, logger } = this.#options;
    const deadline = clock.now() + cleanupWait.timeoutMs;
    const isGone = (pod: Pod): boolean =>
      callGuarded(
        () => isCleanedUp(pod),
        (err) => logger.error({ err }, 'isCleanedUp failed'),
      ) === true;
    do await sleep(clock, cleanupWait.pollMs, signal);
    while (!signal.aborted && clock.now() < deadline && !pods.every(isGone));
  }

  /** Rejects when the time is over, whatever the call does then. */
  async #limited<T>(call: (signal: AbortSignal) => Promise<T>, stopped: AbortSignal): Promise<T> {
    const { clock, timeoutMs = 60_000 } = this.#options;
    const over = new AbortController();
    const signal = AbortSignal.any([stopped, over.signal]);
    const cancel = clock.setTimer(() => over.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    const { promise, reject } = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    try {
      signal.throwIfAborted();
      return await Promise.race([call(signal), promise]);
    } finally {
      cancel();
    }
  }

  #tellNode(reason: string, message: string): void {
    const { nodeEvent = () => undefined, logger } = this.#options;
    callGuarded(
      () => nodeEvent(reason, message),
      (err) => logger.error({ err }, 'nodeEvent failed'),
    );
  }
}

/** Only of such pods must be known what they keep on the disk. */
function hasStorageLimit({ spec }: Pod): boolean {
  const isLimited = (limits: Readonly<Record<string, string>> | undefined) => limits?.['ephemeral-storage'] !== undefined;
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  return (
    containers.some(({ resources }) => isLimited(resources?.limits)) ||
    isLimited(spec?.resources?.limits) ||
    (spec?.volumes ?? []).some(({ emptyDir }) => (emptyDir?.sizeLimit ?? undefined) !== undefined)
  );
}
