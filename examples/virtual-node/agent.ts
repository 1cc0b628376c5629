import type { BasicPodManager, StatusManager, WirePod } from '../../src/index.ts';
import { foreignConditions, makePodStatus } from './pod-status.ts';
import type { VirtualContainer } from './virtual-container.ts';
import type { VirtualPod } from './virtual-pod.ts';
import { type RuntimeEvents, VirtualRuntime } from './virtual-runtime.ts';

/** Counts of what happened to the pods, for the view. */
export interface LifeCounts {
  started: number;
  readinessFlips: number;
  crashes: number;
  deleted: number;
}

/**
 * The node agent. It gets pods from the apiserver, runs and stops their containers, and tells the status manager what it
 * sees of them. It never calls `terminatePod`: the manager finds out by itself when a pod is finished.
 */
export class Agent {
  readonly runtime: VirtualRuntime;
  readonly counts: LifeCounts = { started: 0, readinessFlips: 0, crashes: 0, deleted: 0 };
  /** Calls of `setPodStatus`, `setContainerReadiness` and `setContainerStartup`. */
  calls = 0;
  readonly #podManager: BasicPodManager;
  #statusManager: StatusManager | undefined;
  #housekeeping: NodeJS.Timeout | undefined;

  constructor(podManager: BasicPodManager) {
    this.#podManager = podManager;
    this.runtime = new VirtualRuntime(this.#runtimeEvents());
  }

  /** Starts with the manager, which is made after this agent because it needs the agent's runtime. */
  start(statusManager: StatusManager): void {
    this.#statusManager = statusManager;
    this.#housekeeping = setInterval(() => this.#removeOrphans(), 2000);
  }

  async stop(): Promise<void> {
    clearInterval(this.#housekeeping);
    await this.runtime.close();
  }

  podAdded(pod: WirePod): void {
    this.counts.started++;
    this.runtime.run(pod);
    this.#setPodStatus(pod.metadata?.uid ?? '');
    if (pod.metadata?.deletionTimestamp !== undefined) this.#stop(pod);
  }

  podUpdated(pod: WirePod, old: WirePod): void {
    // a readiness gate may have changed
    const conditionsChanged = JSON.stringify(foreignConditions(pod)) !== JSON.stringify(foreignConditions(old));
    if (pod.metadata?.deletionTimestamp !== undefined) this.#stop(pod);
    else if (conditionsChanged) this.#setPodStatus(pod.metadata?.uid ?? '');
  }

  podDeleted(pod: WirePod): void {
    this.counts.deleted++;
    this.runtime.remove(pod.metadata?.uid ?? '');
  }

  #stop({ metadata }: WirePod): void {
    this.runtime.stop(metadata?.uid ?? '', (metadata?.deletionGracePeriodSeconds ?? 0) * 1000);
  }

  #runtimeEvents(): RuntimeEvents {
    return {
      changed: (pod) => this.#setPodStatus(pod.uid),
      startupChanged: (pod, container) => this.#setContainerStartup(pod, container),
      readinessChanged: (pod, container) => this.#setContainerReadiness(pod, container),
      crashed: () => this.counts.crashes++,
      // the manager waits for this: it looks at the pod now, not at the next batch
      reclaimed: (podUID) => this.#statusManager?.reconcile(podUID),
    };
  }

  #setPodStatus(podUID: string): void {
    const pod = this.#podManager.getPodByUID(podUID);
    const virtualPod = this.runtime.get(podUID);
    if (pod === undefined || virtualPod === undefined) return;
    this.calls++;
    // the pod manager holds the source's wire pods
    this.#statusManager?.setPodStatus(pod, makePodStatus(pod as WirePod, virtualPod));
  }

  #setContainerStartup(pod: VirtualPod, container: VirtualContainer): void {
    this.calls++;
    this.#statusManager?.setContainerStartup(pod.uid, container.id, container.started);
  }

  #setContainerReadiness(pod: VirtualPod, container: VirtualContainer): void {
    this.calls++;
    this.counts.readinessFlips++;
    this.#statusManager?.setContainerReadiness(pod.uid, container.id, container.ready);
  }

  /** Nothing else tells the manager that a pod was deleted by force. */
  #removeOrphans(): void {
    this.#statusManager?.removeOrphanedStatuses(new Set(this.#podManager.getPods().map(({ metadata }) => metadata?.uid ?? '')));
  }
}
