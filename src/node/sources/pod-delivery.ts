import { isOlderThan } from '../../api/json/resource-version.ts';
import type { Pod, WirePod } from '../../api/json/types.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';

/**
 * Where a pod source puts its pods; a `BasicPodManager` of `Pod` or of `WirePod` is one. A source adds, updates and removes
 * its own pods alone: static pods, and those of other sources, stay. What a method throws, or rejects with, is logged and goes
 * no further.
 */
export interface PodSink {
  /** Takes a pod that the source has not shown before. */
  readonly addPod: (pod: WirePod) => void;
  /** Takes a newer copy of a pod. */
  readonly updatePod: (pod: WirePod) => void;
  /**
   * Takes this copy even when the one held is newer: a full list is the truth. Called for a pod that a full list shows
   * with an older resourceVersion than before, as after a restore of etcd. Without this method `updatePod` is called.
   */
  readonly replacePod?: (pod: WirePod) => void;
  /** Gets what this source has put in, or what the sink itself has listed. */
  removePod(pod: Pod): void;
  /** If there: pods that an earlier source left, and that the first list lacks, are removed. */
  getPodsAndMirrorPods?(): { readonly allPods: readonly Pod[]; readonly allMirrorPods: readonly Pod[] };
}

/** Called after the sink. What a handler throws, or rejects with, is logged and goes no further. */
export interface PodSourceHandlers {
  /** A pod is new. */
  podAdded?(pod: WirePod): void;
  /** A pod has changed; `old` is the copy before. */
  podUpdated?(pod: WirePod, old: WirePod): void;
  /** `pod` is as it was last seen. */
  podDeleted?(pod: WirePod): void;
  /** A full list has been delivered. */
  synced?(pods: readonly WirePod[]): void;
  /** A list or watch failed; the next try comes after `delayMs`. */
  interrupted?(interruption: { readonly error: unknown; readonly delayMs: number }): void;
}

/** Hands a reflector's changes on to the sink, then to the handlers. Never throws. */
export class PodDelivery {
  readonly #sink: PodSink;
  readonly #handlers: PodSourceHandlers;
  readonly #logger: Logger;
  /** The pods of the first list, until it is complete; undefined afterwards. */
  #firstList: WirePod[] | undefined = [];

  constructor(sink: PodSink, handlers: PodSourceHandlers, logger: Logger) {
    this.#sink = sink;
    this.#handlers = handlers;
    this.#logger = logger;
  }

  added(pod: WirePod): void {
    if (this.#firstList !== undefined) {
      this.#firstList.push(pod);
      return;
    }
    this.#guard('addPod', () => this.#sink.addPod(pod), pod);
    this.#guard('podAdded', () => this.#handlers.podAdded?.(pod), pod);
  }

  updated(pod: WirePod, old: WirePod): void {
    this.#handOn(pod, old);
    this.#guard('podUpdated', () => this.#handlers.podUpdated?.(pod, old), pod);
  }

  deleted(pod: WirePod): void {
    this.#guard('removePod', () => this.#sink.removePod(pod), pod);
    this.#guard('podDeleted', () => this.#handlers.podDeleted?.(pod), pod);
  }

  /**
   * A list is complete. The first one goes over the pods that an earlier source left in the sink: those that it lacks are
   * removed, and those that it shows with an older resourceVersion are put back.
   */
  listed(isOurs: (pod: Pod) => boolean): void {
    const pods = this.#firstList;
    if (pods === undefined) return;
    this.#firstList = undefined;
    const listed = new Map(pods.map((pod) => [podUIDOf(pod), pod]));
    for (const held of this.#podsOfTheSink(isOurs)) {
      const pod = listed.get(podUIDOf(held));
      if (pod === undefined) this.#guard('removePod', () => this.#sink.removePod(held), held);
      else if (isOlderThan(pod, held)) this.#handOn(pod, held);
    }
    for (const pod of pods) this.added(pod);
  }

  synced(pods: readonly WirePod[]): void {
    this.#guard('synced', () => this.#handlers.synced?.(pods));
  }

  interrupted(error: unknown, delayMs: number): void {
    this.#guard('interrupted', () => this.#handlers.interrupted?.({ error, delayMs }));
  }

  /** Gives the sink this copy in place of `old`. */
  #handOn(pod: WirePod, old: Pod): void {
    const method = isOlderThan(pod, old) && this.#sink.replacePod !== undefined ? 'replacePod' : 'updatePod';
    this.#guard(method, () => this.#sink[method]?.(pod), pod);
  }

  #podsOfTheSink(isOurs: (pod: Pod) => boolean): readonly Pod[] {
    // the answer itself goes through the guard: it may be a promise that rejects
    const answer = this.#guard('getPodsAndMirrorPods', () => this.#sink.getPodsAndMirrorPods?.());
    const ours = this.#guard('getPodsAndMirrorPods', () => {
      const { allPods = [], allMirrorPods = [] } = answer ?? {};
      return [...allPods, ...allMirrorPods].filter(isOurs);
    });
    return ours ?? [];
  }

  /** `pod`: whom the call is about, where it is one pod. */
  #guard<T>(method: string, call: () => T, pod?: Pod): T | undefined {
    const failed = (err: unknown): void => {
      const fields = { ...(pod !== undefined && podFields(pod.metadata)), method, err };
      this.#logger.error(fields, 'a callback of the pod source failed');
    };
    return callGuarded(call, failed);
  }
}
