import type { Logger } from '../seams/logger.ts';
import type { Pod, WirePod } from '../wire/types.ts';

/**
 * Where a pod source puts its pods; a `BasicPodManager` is one. A source adds, updates and removes its own pods alone:
 * static pods, and those of other sources, stay.
 */
export interface PodSink {
  addPod(pod: WirePod): void;
  updatePod(pod: WirePod): void;
  removePod(pod: Pod): void;
  /** If there: pods that an earlier source left, and that the first list lacks, are removed. */
  getPodsAndMirrorPods?(): { readonly allPods: readonly Pod[]; readonly allMirrorPods: readonly Pod[] };
}

/** Told after the sink. Whatever a handler throws, or rejects with, is logged and goes no further. */
export interface PodSourceHandlers {
  podAdded?(pod: WirePod): void;
  podUpdated?(pod: WirePod, old: WirePod): void;
  /** `pod` is as it was last seen. */
  podDeleted?(pod: WirePod): void;
  /** A full list has been delivered. */
  synced?(pods: readonly WirePod[]): void;
  /** A list or watch failed; the next try comes after `delayMs`. */
  interrupted?(interruption: { readonly error: unknown; readonly delayMs: number }): void;
}

/** Keeps the sink and the handlers up to date, whatever the order and repetition of what the server tells. Never throws. */
export class PodDelivery {
  readonly #sink: PodSink;
  readonly #handlers: PodSourceHandlers;
  readonly #logger: Logger;
  /** By uid: a pod recreated under its name is another pod. */
  readonly #known = new Map<string, WirePod>();

  constructor(sink: PodSink, handlers: PodSourceHandlers, logger: Logger) {
    this.#sink = sink;
    this.#handlers = handlers;
    this.#logger = logger;
  }

  /** Removes what the sink has from an earlier source, and the first list lacks. */
  removeLeftBehind(pods: readonly WirePod[], isOurs: (pod: Pod) => boolean): void {
    const listed = new Set(pods.map(uidOf));
    this.#guard('getPodsAndMirrorPods', () => {
      const { allPods = [], allMirrorPods = [] } = this.#sink.getPodsAndMirrorPods?.() ?? {};
      for (const pod of [...allPods, ...allMirrorPods]) if (isOurs(pod) && !listed.has(uidOf(pod))) this.#sink.removePod(pod);
    });
  }

  /** A full list: what it lacks is gone. */
  replace(pods: readonly WirePod[]): void {
    const listed = new Set(pods.map(uidOf));
    for (const [uid, old] of this.#known) if (!listed.has(uid)) this.remove(old);
    for (const pod of pods) this.set(pod);
    this.#guard('synced', () => this.#handlers.synced?.(pods));
  }

  set(pod: WirePod): void {
    const old = this.#known.get(uidOf(pod));
    if (old === undefined) {
      this.#known.set(uidOf(pod), pod);
      this.#guard('addPod', () => this.#sink.addPod(pod));
      this.#guard('podAdded', () => this.#handlers.podAdded?.(pod));
    } else if (old.metadata?.resourceVersion !== pod.metadata?.resourceVersion) {
      this.#known.set(uidOf(pod), pod);
      this.#guard('updatePod', () => this.#sink.updatePod(pod));
      this.#guard('podUpdated', () => this.#handlers.podUpdated?.(pod, old));
    }
  }

  remove(pod: WirePod): void {
    if (!this.#known.delete(uidOf(pod))) return;
    this.#guard('removePod', () => this.#sink.removePod(pod));
    this.#guard('podDeleted', () => this.#handlers.podDeleted?.(pod));
  }

  interrupted(error: unknown, delayMs: number): void {
    this.#guard('interrupted', () => this.#handlers.interrupted?.({ error, delayMs }));
  }

  #guard(callback: string, call: () => unknown): void {
    const failed = (error: unknown): void => this.#logger.error({ callback, err: error }, 'A callback of the pod source failed');
    try {
      const result = call();
      // an async function is a handler too, and its rejection would end the process
      if (result instanceof Promise) result.catch(failed);
    } catch (error) {
      failed(error);
    }
  }
}

function uidOf(pod: Pod): string {
  return pod.metadata?.uid ?? '';
}
