// Behaviour of pkg/kubelet/kuberuntime/kuberuntime_gc.go, v1.36.3.

import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { SteadyClock } from '../../base/clock.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { removeContainerLogs, removePodLogs } from '../logs/pod-logs.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';
import type { ContainerRecord } from '../runtime/runtime-containers.ts';
import { labelFields, type PodSandboxRecord, runtimeLabels } from '../runtime/runtime-sandboxes.ts';
import { shortestGraceSeconds } from './container-killer.ts';
import { FailedRemovals } from './failed-removals.ts';

type CollectRuntime = Pick<
  ContainerRuntime,
  | 'listContainers'
  | 'containerStatus'
  | 'listPodSandboxes'
  | 'stopContainer'
  | 'removeContainer'
  | 'stopPodSandbox'
  | 'removePodSandbox'
>;

/** What is kept of containers that have ended. */
export interface ContainerCollectorOptions {
  readonly runtime: CollectRuntime;
  /** The folder with the folders of the pods' log files. Undefined: no folder is removed. */
  readonly podLogsDirectory: string | undefined;
  /** A container stays at least this long after it was made, in milliseconds. Default 0. */
  readonly minAgeMs?: number;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** So many ended containers of one name are kept of each pod, for their logs. */
const maxPerPodContainer = 1;

/** What may be removed. */
export interface CollectRequest {
  /** True for a pod of which nothing is kept: the agent knows it no more, or it is over and deleted. */
  readonly shouldPodContentBeRemoved: (podUID: string) => boolean;
  /** False: not all pods of the agent are known yet, so that none counts as unknown. */
  readonly sourcesReady: boolean;
  /** True: the pod is still there and will never run again, so all that has ended of it may go. Default: false for every pod. */
  readonly shouldPodRuntimeBeRemoved?: (podUID: string) => boolean;
}

/**
 * Removes containers and sandboxes that have ended, with their log files, and the log files of pods that are gone. What runs is never touched, nor what
 * has no pod's label. What cannot be removed is tried again after 2 seconds, and later with each failure: after a minute in the end.
 */
export class ContainerCollector {
  readonly #runtime: CollectRuntime;
  readonly #podLogsDirectory: string | undefined;
  readonly #minAgeMs: number;
  readonly #clock: SteadyClock;
  readonly #logger: Logger;
  /** When each ended container that the runtime lists was seen first: the wall clock may say that it is still to be made. */
  #seenAt: ReadonlyMap<string, number> = new Map();
  readonly #failedContainers: FailedRemovals;
  readonly #failedSandboxes: FailedRemovals;

  constructor(options: ContainerCollectorOptions) {
    const { runtime, podLogsDirectory, minAgeMs = 0, clock, logger } = options;
    this.#runtime = runtime;
    this.#podLogsDirectory = podLogsDirectory;
    this.#minAgeMs = minAgeMs;
    this.#clock = clock;
    this.#logger = logger;
    this.#failedContainers = new FailedRemovals(clock);
    this.#failedSandboxes = new FailedRemovals(clock);
  }

  /** Resolves once all that may go is gone, or could not be removed. Rejects when the runtime gives no list, and when `signal` aborts. */
  async collect(request: CollectRequest, signal: AbortSignal): Promise<void> {
    const { sourcesReady, shouldPodContentBeRemoved, shouldPodRuntimeBeRemoved = () => false } = request;
    const isGone = (podUID: string): boolean =>
      sourcesReady && (shouldPodContentBeRemoved(podUID) || shouldPodRuntimeBeRemoved(podUID));
    await this.#collectContainers(isGone, signal);
    await this.#collectSandboxes(isGone, signal);
    if (sourcesReady) await this.removeLogs(shouldPodContentBeRemoved);
  }

  /**
   * Removes what has ended of a pod that is gone; what runs stays. `isGone` is asked right before each removal. Resolves once all is
   * gone, or could not be removed. Rejects as {@link collect} does.
   */
  async removePod(podUID: string, isGone: () => boolean, signal: AbortSignal): Promise<void> {
    const containers = await this.#runtime.listContainers({ podUID }, { signal });
    for (const container of containers) {
      if (container.state !== 'running' && isGone()) await this.#removeContainer(container, signal);
    }
    const [sandboxes, left] = await Promise.all([
      this.#runtime.listPodSandboxes({ podUID }, { signal }),
      this.#runtime.listContainers({ podUID }, { signal }),
    ]);
    const inUse = new Set(left.map(({ sandboxID }) => sandboxID));
    for (const sandbox of sandboxes) {
      if (sandbox.state !== 'ready' && !inUse.has(sandbox.id) && isGone()) await this.#removeSandbox(sandbox, signal);
    }
  }

  /** Removes the folders of log files of pods that are gone. Never rejects. */
  async removeLogs(isGone: (podUID: string) => boolean): Promise<void> {
    if (this.#podLogsDirectory !== undefined) await removePodLogs(this.#podLogsDirectory, isGone, this.#logger);
  }

  async #collectContainers(isGone: (podUID: string) => boolean, signal: AbortSignal): Promise<void> {
    const listed = await this.#runtime.listContainers({}, { signal });
    this.#failedContainers.keepOnly(new Set(listed.map(({ id }) => id)));
    const ended = listed.filter(({ state, labels }) => state !== 'running' && labels[runtimeLabels.podUID]);
    const old = this.#oldEnough(ended);
    const units = Map.groupBy(old, ({ labels, metadata }) => JSON.stringify([labels[runtimeLabels.podUID], metadata.name]));
    for (const containers of units.values()) {
      const isOfGonePod = isGone(containers[0]?.labels[runtimeLabels.podUID] ?? '');
      // a container that is just being made is not started yet
      const removable = isOfGonePod ? containers : containers.filter(({ state }) => state !== 'created');
      const newestFirst = removable.toSorted((a, b) => b.createdAt - a.createdAt);
      const tooMany = newestFirst.slice(isOfGonePod ? 0 : maxPerPodContainer);
      for (const container of tooMany.reverse()) await this.#removeContainer(container, signal);
    }
  }

  #oldEnough(ended: readonly ContainerRecord[]): ContainerRecord[] {
    const [now, elapsed] = [this.#clock.now(), this.#clock.elapsed()];
    const seenAt = new Map(ended.map(({ id }) => [id, this.#seenAt.get(id) ?? elapsed]));
    this.#seenAt = seenAt;
    return ended.filter(({ id, createdAt }) => {
      const ageMs = Math.max(now - createdAt, elapsed - (seenAt.get(id) ?? elapsed));
      return ageMs >= this.#minAgeMs;
    });
  }

  async #removeContainer({ id, state, labels }: ContainerRecord, signal: AbortSignal): Promise<void> {
    if (!this.#failedContainers.isDue(id)) return;
    try {
      if (state === 'unknown') await this.#runtime.stopContainer(id, shortestGraceSeconds, { signal });
      // its logs go first: nobody would know of them once it is gone
      const { logPath } = await this.#runtime.containerStatus(id, { signal });
      if (logPath !== '') await removeContainerLogs(logPath);
      await this.#runtime.removeContainer(id, { signal });
      this.#failedContainers.removed(id);
    } catch (err) {
      signal.throwIfAborted();
      const fields = { ...labelFields(labels), containerID: id, ...this.#failedContainers.failed(id) };
      this.#logger.warn({ err, ...fields }, 'an ended container could not be removed; it is tried again');
    }
  }

  /** The newest sandbox of a pod stays as long as the pod, and any that is ready or has containers. */
  async #collectSandboxes(isGone: (podUID: string) => boolean, signal: AbortSignal): Promise<void> {
    const [sandboxes, containers] = await Promise.all([
      this.#runtime.listPodSandboxes({}, { signal }),
      this.#runtime.listContainers({}, { signal }),
    ]);
    this.#failedSandboxes.keepOnly(new Set(sandboxes.map(({ id }) => id)));
    const inUse = new Set(containers.map(({ sandboxID }) => sandboxID));
    const ours = sandboxes.filter(({ labels }) => labels[runtimeLabels.podUID]);
    for (const [podUID, ofPod] of Map.groupBy(ours, ({ metadata }) => metadata.uid)) {
      const newestFirst = ofPod.toSorted((a, b) => b.createdAt - a.createdAt);
      const gone = newestFirst.slice(isGone(podUID) ? 0 : 1).filter(({ id, state }) => state !== 'ready' && !inUse.has(id));
      for (const sandbox of gone.reverse()) await this.#removeSandbox(sandbox, signal);
    }
  }

  async #removeSandbox({ id, metadata }: PodSandboxRecord, signal: AbortSignal): Promise<void> {
    if (!this.#failedSandboxes.isDue(id)) return;
    try {
      await this.#runtime.stopPodSandbox(id, { signal });
      await this.#runtime.removePodSandbox(id, { signal });
      this.#failedSandboxes.removed(id);
    } catch (err) {
      signal.throwIfAborted();
      const fields = { ...podFields(metadata), sandboxID: id, ...this.#failedSandboxes.failed(id) };
      this.#logger.warn({ err, ...fields }, 'an ended sandbox could not be removed; it is tried again');
    }
  }
}
