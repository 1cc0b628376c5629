import type { PodDeletionSafety, WirePod } from '../../src/index.ts';
import { pause } from './pause.ts';
import { type LifeEvents, live } from './pod-life.ts';
import { VirtualPod } from './virtual-pod.ts';

export interface RuntimeEvents extends LifeEvents {
  /** Nothing is left of the pod: no container, no volume. */
  reclaimed(podUID: string): void;
}

/** The container runtime of the virtual node; it runs no process. It also answers the manager's deletion safety questions. */
export class VirtualRuntime implements PodDeletionSafety {
  readonly #events: RuntimeEvents;
  readonly #pods = new Map<string, VirtualPod>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(events: RuntimeEvents) {
    this.#events = events;
  }

  get(podUID: string): VirtualPod | undefined {
    return this.#pods.get(podUID);
  }

  /** Starts a pod's life. */
  run(pod: WirePod): void {
    const virtualPod = new VirtualPod(pod);
    this.#pods.set(virtualPod.uid, virtualPod);
    this.#follow(live(virtualPod, this.#events));
  }

  /** Stops a pod's containers within `graceMs`, then removes the pod. A second call does nothing more. */
  stop(podUID: string, graceMs: number): void {
    const pod = this.#pods.get(podUID);
    if (pod === undefined || pod.isStopping) return;
    pod.isStopping = true;
    pod.life.abort();
    this.#follow(this.#stop(pod, graceMs));
  }

  /** Forgets a pod whose object is gone. */
  remove(podUID: string): void {
    this.#pods.get(podUID)?.life.abort();
    this.#pods.delete(podUID);
  }

  /** Ends the life of every pod: its containers stay as they are. Stops in progress go on. */
  freeze(): void {
    for (const pod of this.#pods.values()) pod.life.abort();
  }

  /** Resolves when no timer is left. */
  async close(): Promise<void> {
    this.freeze();
    this.#closing.abort();
    await Promise.all(this.#underWay);
  }

  podCouldHaveRunningContainers({ metadata }: { metadata?: { readonly uid?: string } }): boolean {
    return this.#pods.get(metadata?.uid ?? '')?.isRunning ?? false;
  }

  podResourcesAreReclaimed({ metadata }: { metadata?: { readonly uid?: string } }): boolean {
    return !this.#pods.has(metadata?.uid ?? '');
  }

  async #stop(pod: VirtualPod, graceMs: number): Promise<void> {
    const { random } = pod;
    const exits = pod.allContainers.filter(({ isRunning }) => isRunning);
    if (exits.length > 0 && !(await pause(Math.min(graceMs, random.between(50, 1000)), this.#closing.signal))) return;
    for (const container of exits) container.exit(random.chance(0.7) ? 0 : 137);
    this.#events.changed(pod);
    if (!(await pause(random.between(20, 200), this.#closing.signal))) return;
    this.#pods.delete(pod.uid);
    this.#events.reclaimed(pod.uid);
  }

  #follow(work: Promise<void>): void {
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }
}
