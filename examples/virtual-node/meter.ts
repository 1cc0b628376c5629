import { createHistogram } from 'node:perf_hooks';
import type { StatusManager, SyncErrorEvent } from 'pod-status-manager';

interface Unsynced {
  version: number;
  /** Versions not on the apiserver yet, oldest first. */
  readonly waiting: { readonly version: number; readonly at: number }[];
}

/** Measures from the manager's events alone: how many versions were set, and how long each took from set to `synced`. */
export class Meter {
  versions = 0;
  /** Without conflicts: others write the same pods, so a second conflict may follow the first. The refusals count them. */
  syncErrors = 0;
  illegalTransitions = 0;
  lastError: SyncErrorEvent | undefined;
  /** In microseconds. */
  readonly #delays = createHistogram();
  readonly #pods = new Map<string, Unsynced>();
  #lastVersionAt = performance.now();

  watch(manager: StatusManager): void {
    // the manager emits exactly one of these two events for each version that it stores
    manager.on('podUpdated', ({ pod }) => this.#set(pod.metadata?.uid ?? ''));
    manager.on('podRemoved', ({ pod }) => this.#set(pod.metadata?.uid ?? ''));
    manager.on('synced', ({ podUID, version }) => this.#synced(podUID, version));
    manager.on('illegalTransition', () => this.illegalTransitions++);
    manager.on('syncError', (event) => {
      if (event.errorClass === 'conflict') return;
      this.syncErrors++;
      this.lastError = event;
    });
  }

  /** Drops everything kept of a pod that is gone. */
  forget(podUID: string): void {
    this.#pods.delete(podUID);
  }

  /** Milliseconds within which `percent` of the versions reached the apiserver; undefined before the first. */
  delayMs(percent: number): number | undefined {
    return this.#delays.count === 0 ? undefined : this.#delays.percentile(percent) / 1000;
  }

  /** Milliseconds since the last version was set. */
  get quietMs(): number {
    return performance.now() - this.#lastVersionAt;
  }

  #set(podUID: string): void {
    this.versions++;
    this.#lastVersionAt = performance.now();
    const pod = this.#pods.get(podUID) ?? { version: 0, waiting: [] };
    this.#pods.set(podUID, pod);
    pod.version++;
    pod.waiting.push({ version: pod.version, at: performance.now() });
  }

  /** With a version, the older ones count as synced too. */
  #synced(podUID: string, version: number): void {
    const pod = this.#pods.get(podUID);
    if (pod === undefined) return;
    const now = performance.now();
    for (let next = pod.waiting[0]; next !== undefined && next.version <= version; next = pod.waiting[0]) {
      this.#delays.record(Math.max(1, Math.round((now - next.at) * 1000)));
      pod.waiting.shift();
    }
  }
}
