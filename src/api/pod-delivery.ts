import type { Logger } from '../logger.ts';
import type { WirePod } from './wire.ts';

/** Where a pod source puts its pods; a `BasicPodManager` is one. */
export interface PodSink {
  setPods(pods: readonly WirePod[]): void;
  addPod(pod: WirePod): void;
  updatePod(pod: WirePod): void;
  removePod(pod: WirePod): void;
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
  #known = new Map<string, WirePod>();

  constructor(sink: PodSink, handlers: PodSourceHandlers, logger: Logger) {
    this.#sink = sink;
    this.#handlers = handlers;
    this.#logger = logger;
  }

  /** A full list: what it lacks is gone. */
  replace(pods: readonly WirePod[]): void {
    const before = this.#known;
    this.#known = new Map(pods.map((pod) => [uidOf(pod), pod]));
    this.#guard('setPods', () => this.#sink.setPods(pods));
    for (const [uid, old] of before) if (!this.#known.has(uid)) this.#tellDeleted(old);
    for (const pod of pods) this.#tellSet(pod, before.get(uidOf(pod)));
    this.#guard('synced', () => this.#handlers.synced?.(pods));
  }

  set(pod: WirePod): void {
    const old = this.#known.get(uidOf(pod));
    this.#known.set(uidOf(pod), pod);
    if (old === undefined) this.#guard('addPod', () => this.#sink.addPod(pod));
    else this.#guard('updatePod', () => this.#sink.updatePod(pod));
    this.#tellSet(pod, old);
  }

  remove(pod: WirePod): void {
    if (!this.#known.delete(uidOf(pod))) return;
    this.#guard('removePod', () => this.#sink.removePod(pod));
    this.#tellDeleted(pod);
  }

  interrupted(error: unknown, delayMs: number): void {
    this.#guard('interrupted', () => this.#handlers.interrupted?.({ error, delayMs }));
  }

  #tellSet(pod: WirePod, old: WirePod | undefined): void {
    if (old === undefined) this.#guard('podAdded', () => this.#handlers.podAdded?.(pod));
    else if (old.metadata?.resourceVersion !== pod.metadata?.resourceVersion) {
      this.#guard('podUpdated', () => this.#handlers.podUpdated?.(pod, old));
    }
  }

  #tellDeleted(pod: WirePod): void {
    this.#guard('podDeleted', () => this.#handlers.podDeleted?.(pod));
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

function uidOf(pod: WirePod): string {
  return pod.metadata?.uid ?? '';
}
