// Behaviour of pkg/kubelet/pod/pod_manager.go, v1.36.3.

import { isOlderThan } from '../../api/json/resource-version.ts';
import type { Pod } from '../../api/json/types.ts';
import {
  buildPodFullName,
  type IdentifiedPod,
  identify,
  isMirrorPod,
  isStaticPod,
  podFullName,
  podUIDOf,
} from '../../api/pod/pod-identity.ts';
import { LateMap, LateSet } from '../../base/concurrency/late-collections.ts';
import { invalidArgument } from '../../base/errors.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { PodManager, UIDTranslations } from './pod-manager.ts';
import { type BasicPodManagerOptions, PodRegistrars } from './pod-registrars.ts';

/** All pods of a pod manager, the mirror pods apart. */
export interface PodsAndMirrorPods<P extends Pod = Pod> {
  /** Every pod but the mirror pods. */
  readonly allPods: P[];
  /** Every mirror pod, also one without a static pod. */
  readonly allMirrorPods: P[];
  /** The full names of mirror pods whose static pod is gone. */
  readonly orphanedMirrorPodFullnames: string[];
}

/** A pod and the mirror pod of the same full name. */
export interface PodAndMirrorPod<P extends Pod = Pod> {
  /** The pod that is no mirror pod; undefined where the manager has none. */
  readonly pod: P | undefined;
  /** The mirror pod; undefined where the manager has none. */
  readonly mirrorPod: P | undefined;
  /** True when the argument was the mirror pod. */
  readonly wasMirror: boolean;
}

/**
 * The agent's pods, in memory. Pods are kept as they are given, without a copy: do not change one afterwards, set a new
 * object instead. A static pod and its mirror pod find each other by full name, whichever comes first.
 *
 * `P` is the type of the pods that go in, and so of those that come out: `WirePod` for an `ApiServerPodSource`, client-node's
 * `V1Pod`, or a type of your own.
 *
 * Every method that takes pods throws ERR_INVALID_ARGUMENT for one without a uid, name or namespace, and changes nothing.
 *
 * @example
 * ```ts
 * import { BasicPodManager } from 'pod-status-manager';
 *
 * const podManager = new BasicPodManager();
 * podManager.subscribe((podUID) => console.log('changed', podUID)); // changed u1
 * podManager.addPod({ metadata: { uid: 'u1', name: 'web', namespace: 'default' } });
 * console.log(podManager.getPodByName('default', 'web')?.metadata?.uid); // u1
 * ```
 */
export class BasicPodManager<in out P extends Pod = Pod> implements PodManager {
  readonly #podByUID = new LateMap<string, P>();
  readonly #podByFullName = new LateMap<string, P>();
  readonly #mirrorPodByUID = new LateMap<string, P>();
  readonly #mirrorPodByFullName = new LateMap<string, P>();
  readonly #sharedNames = new SharedNames();
  /** From a mirror pod's uid to its static pod's uid. */
  readonly #translationByUID = new LateMap<string, string>();
  /** Made at the first call, and kept until a change that would make it different. */
  #translations: UIDTranslations | undefined;
  readonly #listeners = new PodListeners();
  readonly #registrars: PodRegistrars;

  /**
   * The managers of secrets and config maps are told of every pod that is added or replaced (`registerPod`), and of every one
   * that has ended or is removed (`unregisterPod`), before a listener hears of it. What they throw is logged and changes
   * nothing. Throws ERR_INVALID_OPTION for one without these methods.
   */
  constructor(options: BasicPodManagerOptions = {}) {
    this.#registrars = new PodRegistrars(options);
  }

  /** Every pod but the mirror pods, in no particular order. */
  getPods(): P[] {
    return [...this.#podByUID.values()];
  }

  /** Never a mirror pod. */
  getPodByUID(uid: string): P | undefined {
    return this.#podByUID.get(uid);
  }

  /** Never a mirror pod. */
  getPodByName(namespace: string, name: string): P | undefined {
    return this.getPodByFullName(buildPodFullName(name, namespace));
  }

  /** Never a mirror pod. */
  getPodByFullName(fullName: string): P | undefined {
    return this.#podByFullName.get(fullName);
  }

  /** The pod of the same full name. The argument is not checked for being a mirror pod. */
  getPodByMirrorPod(mirrorPod: Pod): P | undefined {
    return this.#podByFullName.get(podFullName(mirrorPod));
  }

  /** The mirror pod of the same full name. The argument is not checked for being a static pod. */
  getMirrorPodByPod(pod: Pod): P | undefined {
    return this.#mirrorPodByFullName.get(podFullName(pod));
  }

  /** All pods, the mirror pods apart, and the full names of mirror pods without a static pod. */
  getPodsAndMirrorPods(): PodsAndMirrorPods<P> {
    const names = [...this.#mirrorPodByFullName.keys()];
    return {
      allPods: this.getPods(),
      allMirrorPods: [...this.#mirrorPodByUID.values()],
      orphanedMirrorPodFullnames: names.filter((fullName) => !this.#podByFullName.has(fullName)),
    };
  }

  /** A pod and its mirror pod, for either of the two. */
  getPodAndMirrorPod(pod: P): PodAndMirrorPod<P> {
    if (isMirrorPod(pod)) return { pod: this.getPodByMirrorPod(pod), mirrorPod: pod, wasMirror: true };
    return { pod, mirrorPod: this.getMirrorPodByPod(pod), wasMirror: false };
  }

  /** Every static pod, with its mirror pod or undefined. */
  getStaticPodToMirrorPodMap(): Map<P, P | undefined> {
    const staticPods = this.getPods().filter(isStaticPod);
    return new Map(staticPods.map((pod) => [pod, this.getMirrorPodByPod(pod)]));
  }

  /** A known mirror pod's uid becomes its static pod's; any other stays as it is. */
  translatePodUID(uid: string): string {
    return this.#translationByUID.get(uid) ?? uid;
  }

  /** Read-only. Returns the same object until a static pod, a mirror pod or a pair of them changes, so that a call costs nothing. */
  getUIDTranslations(): UIDTranslations {
    this.#translations ??= this.#makeTranslations();
    return this.#translations;
  }

  /**
   * Calls `listener` with a uid after each change, before the method that made the change returns. The uid is that of the
   * pod that was added, removed or replaced by another object; for a mirror pod it is that of the pod with the same full
   * name, or the mirror pod's own uid while there is none. `setPods` tells each uid that was there before or is there
   * afterwards, once. A call that changes nothing (an older copy, the same object again) tells nothing.
   *
   * A listener must not change the pod manager; it may subscribe and end subscriptions. What it throws, or what its
   * promise rejects with, is ignored. Returns a function that ends the subscription; a second call of it does nothing.
   * Throws ERR_INVALID_ARGUMENT for a listener that is no function.
   */
  subscribe(listener: (podUID: string) => void): () => void {
    return this.#listeners.subscribe(listener);
  }

  /** Forgets everything and takes these pods, in any order. All or nothing: one bad pod, and nothing has changed. */
  setPods(pods: Iterable<P>): void {
    const identified = Array.from(pods, (pod) => identify(pod));
    const before = this.#uidsToTell();
    const podsBefore = [...this.#podByUID, ...this.#mirrorPodByUID];
    this.#podByUID.clear();
    this.#podByFullName.clear();
    this.#sharedNames.clear();
    this.#mirrorPodByUID.clear();
    this.#mirrorPodByFullName.clear();
    this.#translationByUID.clear();
    this.#translations = undefined;
    for (const { pod, uid, fullName } of identified) this.#put(pod, uid, fullName);
    this.#registerAgain(podsBefore);
    this.#listeners.tell(new Set([...before, ...this.#uidsToTell()]));
  }

  /** The same as {@link updatePod}. */
  addPod(pod: P): void {
    this.updatePod(pod);
  }

  /** Adds or replaces a pod, unless the one held is the same pod with a newer resourceVersion: a late answer changes nothing. */
  updatePod(pod: P): void {
    const identified = identify(pod);
    const { uid } = identified;
    const held = this.#heldPod(pod, uid);
    if (held === undefined || !isOlderThan(pod, held)) this.#replace(identified);
  }

  /** Adds or replaces a pod, also when the one held has a newer resourceVersion. For the pods of a full list, which is the truth. */
  replacePod(pod: P): void {
    this.#replace(identify(pod));
  }

  /**
   * Removes a pod by uid, and by full name unless a newer pod has that name by now (upstream drops the newer one's name). An
   * earlier pod with the same full name that is still there is found by that name again.
   * As upstream, a mirror pod takes its full name with it, and its uid is still translated after its static pod is gone,
   * until the mirror pod is removed too.
   */
  removePod(pod: Pod): void {
    const { uid, fullName } = identify(pod);
    const held = this.#heldPod(pod, uid);
    if (held !== undefined && held !== pod) this.#registrars.remove(held);
    this.#registrars.remove(pod);
    const hasChanged = isMirrorPod(pod) ? this.#dropMirrorPod(uid, fullName) : this.#dropPod(uid, fullName);
    if (hasChanged) this.#listeners.tell([this.#uidToTell(pod, uid, fullName)]);
  }

  #replace({ pod, uid, fullName }: IdentifiedPod<P>): void {
    const [byUID, byFullName] = isMirrorPod(pod)
      ? [this.#mirrorPodByUID, this.#mirrorPodByFullName]
      : [this.#podByUID, this.#podByFullName];
    const held = byUID.get(uid);
    if (held === pod && byFullName.get(fullName) === pod) return;
    this.#put(pod, uid, fullName);
    this.#registrars.set(pod, held);
    this.#listeners.tell([this.#uidToTell(pod, uid, fullName)]);
  }

  #heldPod(pod: Pod, uid: string): P | undefined {
    return isMirrorPod(pod) ? this.#mirrorPodByUID.get(uid) : this.#podByUID.get(uid);
  }

  /** All pods were exchanged: those of now are registered before those that are gone are unregistered. */
  #registerAgain(before: readonly (readonly [uid: string, pod: P])[]): void {
    const pods = new Map(before);
    for (const [uid, pod] of [...this.#podByUID, ...this.#mirrorPodByUID]) {
      this.#registrars.set(pod, pods.get(uid));
      pods.delete(uid);
    }
    for (const pod of pods.values()) this.#registrars.remove(pod);
  }

  /** Returns whether anything was dropped. */
  #dropMirrorPod(uid: string, fullName: string): boolean {
    const wasHeld = this.#mirrorPodByUID.delete(uid);
    const hadName = this.#mirrorPodByFullName.delete(fullName);
    if (this.#translationByUID.delete(uid)) this.#translations = undefined;
    return wasHeld || hadName;
  }

  /** Returns whether anything was dropped. */
  #dropPod(uid: string, fullName: string): boolean {
    const held = this.#podByUID.get(uid);
    if (held === undefined) return false;
    this.#podByUID.delete(uid);
    this.#sharedNames.drop(fullName, uid);
    if (this.#podByFullName.get(fullName)?.metadata?.uid === uid) this.#passOnName(fullName);
    // the translations name static pods, and mirror pods, whose translation outlives the pod
    if (isStaticPod(held)) this.#translations = undefined;
    return true;
  }

  /** The pod that had the full name is gone: a pod that has had to share it takes it over, with the mirror pod. */
  #passOnName(fullName: string): void {
    this.#podByFullName.delete(fullName);
    let last: string | undefined;
    for (const uid of this.#sharedNames.take(fullName)) {
      const pod = this.#podByUID.get(uid);
      if (pod === undefined || podFullName(pod) !== fullName) continue;
      this.#takeName(fullName, pod);
      last = uid;
    }
    this.#translate(this.#mirrorPodByFullName.get(fullName)?.metadata?.uid, last);
  }

  #takeName(fullName: string, pod: P): void {
    const held = this.#podByFullName.get(fullName)?.metadata?.uid;
    const uid = podUIDOf(pod);
    if (held !== undefined && held !== uid && this.#podByUID.has(held)) this.#sharedNames.add(fullName, held, uid);
    this.#podByFullName.set(fullName, pod);
  }

  #uidToTell(pod: Pod, uid: string, fullName: string): string {
    return isMirrorPod(pod) ? (this.#podByFullName.get(fullName)?.metadata?.uid ?? uid) : uid;
  }

  /** The uids to tell when all pods are exchanged; none while there is no listener. */
  #uidsToTell(): string[] {
    if (this.#listeners.isEmpty) return [];
    const ofMirrorPods = Array.from(this.#mirrorPodByUID, ([uid, pod]) => this.#uidToTell(pod, uid, podFullName(pod)));
    return [...this.#podByUID.keys(), ...ofMirrorPods];
  }

  #put(pod: P, uid: string, fullName: string): void {
    if (isMirrorPod(pod)) {
      this.#mirrorPodByUID.set(uid, pod);
      this.#mirrorPodByFullName.set(fullName, pod);
      this.#translate(uid, this.#podByFullName.get(fullName)?.metadata?.uid);
      return;
    }
    const held = this.#podByUID.get(uid);
    if (isStaticPod(pod) !== (held !== undefined && isStaticPod(held))) this.#translations = undefined;
    this.#podByUID.set(uid, pod);
    this.#takeName(fullName, pod);
    this.#translate(this.#mirrorPodByFullName.get(fullName)?.metadata?.uid, uid);
  }

  #translate(mirrorPodUID: string | undefined, podUID: string | undefined): void {
    if (mirrorPodUID === undefined || podUID === undefined) return;
    if (this.#translationByUID.get(mirrorPodUID) === podUID) return;
    this.#translationByUID.set(mirrorPodUID, podUID);
    this.#translations = undefined;
  }

  #makeTranslations(): UIDTranslations {
    const podToMirror = new Map<string, string>();
    for (const [uid, pod] of this.#podByUID) if (isStaticPod(pod)) podToMirror.set(uid, '');
    // A static pod has several mirror pods while an old one is not removed yet. The one that came last counts.
    for (const [mirrorPodUID, podUID] of this.#translationByUID) podToMirror.set(podUID, mirrorPodUID);
    return Object.freeze({
      podToMirror: readOnlyMap(podToMirror),
      mirrorToPod: readOnlyMap(new Map(this.#translationByUID)),
    });
  }
}

export type PodListener = (podUID: string) => void;

/** The subscriptions to a pod manager. What a listener throws, or what its promise rejects with, is ignored. */
class PodListeners {
  readonly #subscriptions = new LateSet<{ readonly listener: PodListener }>();

  /** True while there is no subscription. */
  get isEmpty(): boolean {
    return this.#subscriptions.size === 0;
  }

  /** Returns a function that ends the subscription. Throws ERR_INVALID_ARGUMENT for a listener that is no function. */
  subscribe(listener: PodListener): () => void {
    if (typeof listener !== 'function') throw invalidArgument('listener', 'a function', listener);
    // an object of its own, so that a function that was subscribed twice is two subscriptions
    const subscription = { listener };
    this.#subscriptions.add(subscription);
    return () => {
      this.#subscriptions.delete(subscription);
    };
  }

  /**
   * Calls every listener with each uid. A listener that is added meanwhile is not called for this change, and one whose
   * subscription ends meanwhile is called no more.
   */
  tell(podUIDs: Iterable<string>): void {
    const subscriptions = [...this.#subscriptions];
    for (const podUID of podUIDs) {
      for (const subscription of subscriptions) {
        if (this.#subscriptions.has(subscription)) callGuarded(() => subscription.listener(podUID), ignoreFailure);
      }
    }
  }
}

function refuse(): never {
  throw new TypeError('this map is read-only');
}

/** Makes the map read-only: `set`, `delete` and `clear` throw a TypeError. Returns the map. */
export function readOnlyMap<K, V>(map: Map<K, V>): ReadonlyMap<K, V> {
  const value = refuse;
  return Object.freeze(Object.defineProperties(map, { set: { value }, delete: { value }, clear: { value } }));
}

/** Full names that several pods have had at once, neither of them a mirror pod, with the uids of those that are still there. */
class SharedNames {
  readonly #uids = new LateMap<string, Set<string>>();

  add(fullName: string, ...uids: readonly string[]): void {
    const known = this.#uids.get(fullName) ?? new Set();
    this.#uids.set(fullName, known);
    for (const uid of uids) known.add(uid);
  }

  /** The pod is gone. */
  drop(fullName: string, uid: string): void {
    const known = this.#uids.get(fullName);
    if (known?.delete(uid) && known.size === 0) this.#uids.delete(fullName);
  }

  /** The uids, in the order in which they came; the name counts as no longer shared. */
  take(fullName: string): Iterable<string> {
    const known = this.#uids.get(fullName) ?? [];
    this.#uids.delete(fullName);
    return known;
  }

  clear(): void {
    this.#uids.clear();
  }
}
