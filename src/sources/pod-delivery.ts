import { isDeepStrictEqual } from 'node:util';
import { callGuarded } from '../seams/guard.ts';
import type { Logger } from '../seams/logger.ts';
import { isOlderThan } from '../wire/resource-version.ts';
import type { Pod, WirePod } from '../wire/types.ts';

/**
 * Where a pod source puts its pods; a `BasicPodManager` is one. A source adds, updates and removes its own pods alone:
 * static pods, and those of other sources, stay. What a method throws, or rejects with, is logged and goes no further.
 */
export interface PodSink {
  addPod(pod: WirePod): void;
  updatePod(pod: WirePod): void;
  /**
   * Takes this copy even when the one held is newer: a full list is the truth. Called for a pod that a full list shows
   * with an older resourceVersion than before, as after a restore of etcd. Without this method `updatePod` is called.
   */
  replacePod?(pod: WirePod): void;
  removePod(pod: Pod): void;
  /** If there: pods that an earlier source left, and that the first list lacks, are removed. */
  getPodsAndMirrorPods?(): { readonly allPods: readonly Pod[]; readonly allMirrorPods: readonly Pod[] };
}

/** Called after the sink. What a handler throws, or rejects with, is logged and goes no further. */
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

/** Keeps the sink and the handlers up to date, however the server repeats what it tells. Never throws. */
export class PodDelivery {
  readonly #sink: PodSink;
  readonly #handlers: PodSourceHandlers;
  readonly #logger: Logger;
  /** The copies handed on last, by uid: a pod that was recreated under its name is another pod. */
  readonly #known = new Map<string, WirePod>();

  constructor(sink: PodSink, handlers: PodSourceHandlers, logger: Logger) {
    this.#sink = sink;
    this.#handlers = handlers;
    this.#logger = logger;
  }

  /**
   * For the first list, over the pods that an earlier source left in the sink: removes those that the list lacks, and puts
   * back those that the list shows with an older resourceVersion.
   */
  takeOver(pods: readonly WirePod[], isOurs: (pod: Pod) => boolean): void {
    const listed = new Map(pods.map((pod) => [uidOf(pod), pod]));
    for (const held of this.#podsOfTheSink(isOurs)) {
      const pod = listed.get(uidOf(held));
      if (pod === undefined) this.#guard('removePod', () => this.#sink.removePod(held));
      else if (isOlderThan(pod, held)) this.#handOn(pod, held);
    }
  }

  /** A full list, which is the truth: what it lacks is gone, and what it shows otherwise is handed on, older or not. */
  replace(pods: readonly WirePod[]): void {
    const listed = new Set(pods.map(uidOf));
    for (const [uid, old] of this.#known) if (!listed.has(uid)) this.remove(old);
    for (const pod of pods) {
      const old = this.#known.get(uidOf(pod));
      if (old === undefined) this.#add(pod);
      else if (!isSameCopy(pod, old)) this.#update(pod, old);
    }
  }

  synced(pods: readonly WirePod[]): void {
    this.#guard('synced', () => this.#handlers.synced?.(pods));
  }

  /** One pod, from a watch. The version that was handed on before is not handed on again. */
  set(pod: WirePod): void {
    const old = this.#known.get(uidOf(pod));
    if (old === undefined) this.#add(pod);
    else if (versionOf(pod) !== versionOf(old)) this.#update(pod, old);
  }

  remove(pod: WirePod): void {
    if (!this.#known.delete(uidOf(pod))) return;
    this.#guard('removePod', () => this.#sink.removePod(pod));
    this.#guard('podDeleted', () => this.#handlers.podDeleted?.(pod));
  }

  interrupted(error: unknown, delayMs: number): void {
    this.#guard('interrupted', () => this.#handlers.interrupted?.({ error, delayMs }));
  }

  #add(pod: WirePod): void {
    this.#known.set(uidOf(pod), pod);
    this.#guard('addPod', () => this.#sink.addPod(pod));
    this.#guard('podAdded', () => this.#handlers.podAdded?.(pod));
  }

  #update(pod: WirePod, old: WirePod): void {
    this.#known.set(uidOf(pod), pod);
    this.#handOn(pod, old);
    this.#guard('podUpdated', () => this.#handlers.podUpdated?.(pod, old));
  }

  /** Gives the sink this copy in place of `old`. */
  #handOn(pod: WirePod, old: Pod): void {
    const method = isOlderThan(pod, old) && this.#sink.replacePod !== undefined ? 'replacePod' : 'updatePod';
    this.#guard(method, () => this.#sink[method]?.(pod));
  }

  #podsOfTheSink(isOurs: (pod: Pod) => boolean): readonly Pod[] {
    // the answer itself goes through the guard: it may be a promise that rejects
    const answer = this.#guard('getPodsAndMirrorPods', () => this.#sink.getPodsAndMirrorPods?.());
    const { allPods = [], allMirrorPods = [] } = answer ?? {};
    return this.#guard('getPodsAndMirrorPods', () => [...allPods, ...allMirrorPods].filter(isOurs)) ?? [];
  }

  #guard<T>(callback: string, call: () => T): T | undefined {
    return callGuarded(call, (error) => this.#logger.error({ callback, err: error }, 'A callback of the pod source failed'));
  }
}

function uidOf(pod: Pod): string {
  return pod.metadata?.uid ?? '';
}

function versionOf(pod: WirePod): string | undefined {
  return pod.metadata?.resourceVersion;
}

/** After a restore of etcd a resourceVersion can come again with other content. Only watch events carry kind and apiVersion. */
function isSameCopy(pod: WirePod, old: WirePod): boolean {
  if (versionOf(pod) !== versionOf(old)) return false;
  const { metadata, spec, status } = pod;
  return isDeepStrictEqual({ metadata, spec, status }, { metadata: old.metadata, spec: old.spec, status: old.status });
}
