import type { Pod, PodStatus, WirePodStatus } from 'pod-status-manager';
import type { DeletePodCall, NotifyPods, PodProvider, ProviderCall } from 'pod-status-manager/node';
import { pause } from '../pause.ts';
import { type LifeEvents, live } from './pod-life.ts';
import type { VirtualContainer } from './virtual-container.ts';
import { VirtualPod } from './virtual-pod.ts';

/** Where the results of probes go, and where the statuses of before come from: the status manager has these three methods. */
export interface ProbedStatuses {
  getPodStatus(podUID: string): PodStatus | undefined;
  setContainerStartup(podUID: string, containerID: string, started: boolean): unknown;
  setContainerReadiness(podUID: string, containerID: string, ready: boolean): unknown;
}

/** Counts of what happened to the pods, for the view. */
export interface LifeCounts {
  /** Statuses and probe results that were told. */
  told: number;
  readinessFlips: number;
  crashes: number;
}

/** Runs pods without any process: their containers live by the clock and by chance. */
export class VirtualProvider implements PodProvider {
  readonly counts: LifeCounts = { told: 0, readinessFlips: 0, crashes: 0 };
  readonly #statuses: () => ProbedStatuses;
  readonly #pods = new Map<string, VirtualPod>();
  readonly #lives = new Set<Promise<void>>();
  readonly #events: LifeEvents;
  #notify: NotifyPods = () => {};
  #isFrozen = false;

  /** `statuses` is asked later: the status manager is made together with the node, after its provider. */
  constructor(statuses: () => ProbedStatuses) {
    this.#statuses = statuses;
    this.#events = {
      changed: ({ uid }) => this.#notify(uid),
      crashed: () => this.counts.crashes++,
      startupChanged: (pod, container) => this.#probed(pod, container, 'setContainerStartup', container.started),
      readinessChanged: (pod, container) => {
        this.counts.readinessFlips++;
        this.#probed(pod, container, 'setContainerReadiness', container.ready);
      },
    };
  }

  notifyPods(notify: NotifyPods): void {
    this.#notify = notify;
  }

  /** Starts the pod's life, unless it is too late for that: then the pod waits. */
  createPod(pod: Pod): void {
    const virtualPod = new VirtualPod(pod);
    if (this.#pods.has(virtualPod.uid)) return;
    this.#pods.set(virtualPod.uid, virtualPod);
    if (this.#isFrozen) return;
    const life = live(virtualPod, this.#events);
    this.#lives.add(life);
    void life.finally(() => this.#lives.delete(life));
  }

  /** A virtual pod has nothing that could change. */
  updatePod(): void {}

  getPodStatus(pod: Pod): WirePodStatus | undefined {
    const uid = pod.metadata?.uid ?? '';
    const virtualPod = this.#pods.get(uid);
    if (virtualPod === undefined) return undefined;
    this.counts.told++;
    return virtualPod.statusOf(pod, this.#statuses().getPodStatus(uid));
  }

  /** Stops the containers within the grace period, then frees what the pod has. A second call goes on where the first one is. */
  async deletePod({ metadata }: Pod, { gracePeriodSeconds, signal }: DeletePodCall): Promise<void> {
    const pod = this.#pods.get(metadata?.uid ?? '');
    if (pod === undefined) return;
    const { random } = pod;
    pod.isStopping = true;
    pod.life.abort();
    if (pod.isRunning) await this.#pause(Math.min(gracePeriodSeconds * 1000, random.between(50, 1000)), signal);
    for (const container of pod.allContainers) if (container.isRunning) container.exit(random.chance(0.7) ? 0 : 137);
    this.#notify(pod.uid);
    await this.#pause(random.between(20, 200), signal);
    this.#pods.delete(pod.uid);
  }

  /** Ends the life of every pod, and begins none any more: the containers stay as they are. */
  freeze(): void {
    this.#isFrozen = true;
    for (const pod of this.#pods.values()) pod.life.abort();
  }

  /** Resolves when no timer is left. */
  async close(): Promise<void> {
    this.freeze();
    await Promise.all(this.#lives);
  }

  /** As a kubelet does: the result goes to the status manager at once, and the pod is looked at again. */
  #probed({ uid }: VirtualPod, { id }: VirtualContainer, set: keyof Omit<ProbedStatuses, 'getPodStatus'>, result: boolean): void {
    this.counts.told++;
    this.#statuses()[set](uid, id, result);
    this.#notify(uid);
  }

  /** Rejects when the node ends the call. */
  async #pause(ms: number, signal: ProviderCall['signal']): Promise<void> {
    if (!(await pause(ms, signal))) signal.throwIfAborted();
  }
}
