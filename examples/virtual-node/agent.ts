import type { BasicPodManager, StatusManager, WirePod } from '../../src/index.ts';
import { foreignConditions, makePodStatus } from './pod-status.ts';
import type { VirtualContainer } from './virtual-container.ts';
import type { VirtualPod } from './virtual-pod.ts';
import { type RuntimeEvents, VirtualRuntime } from './virtual-runtime.ts';

/** What happened to the pods, for the view. */
export interface LifeCounts {
  started: number;
  readinessFlips: number;
  crashes: number;
  deleted: number;
}

/**
 * The node agent: pods in from the apiserver, containers run and stopped, what is seen of them out to the status
 * manager. In the classic style: it never says that a pod is finished, the manager finds out.
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

  /** Takes the manager, which needs this agent's runtime to be made. */
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
      // the last thing the manager waits for: it looks again now, not at its next batch
      reclaimed: (podUID) => this.#statusManager?.reconcile(podUID),
    };
  }

  #setPodStatus(podUID: string): void {
    const pod = this.#podManager.getPodByUID(podUID);
    const virtualPod = this.runtime.get(podUID);
    if (pod === undefined || virtualPod === undefined) return;
    this.calls++;
    // the pod manager was filled with the source's wire pods
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

  /** Pods deleted with force go without their agent: nobody else tells the manager. */
  #removeOrphans(): void {
    this.#statusManager?.removeOrphanedStatuses(new Set(this.#podManager.getPods().map(({ metadata }) => metadata?.uid ?? '')));
  }
}
