// Behaviour of pkg/kubelet/pod/pod_manager.go, v1.36.3.

import { isOlderThan } from '../wire/resource-version.ts';
import type { Pod } from '../wire/types.ts';
import { identify } from './identified-pod.ts';
import { buildPodFullName, isMirrorPod, isStaticPod, podFullName } from './pod-identity.ts';
import type { PodManager, UIDTranslations } from './pod-manager.ts';

export interface PodsAndMirrorPods {
  /** Every pod but the mirror pods. */
  readonly allPods: Pod[];
  readonly allMirrorPods: Pod[];
  /** The full names of mirror pods whose static pod is gone. */
  readonly orphanedMirrorPodFullnames: string[];
}

export interface PodAndMirrorPod {
  readonly pod: Pod | undefined;
  readonly mirrorPod: Pod | undefined;
  /** True when the question was asked with the mirror pod. */
  readonly wasMirror: boolean;
}

/**
 * The agent's pods, in memory. Pods are kept as they are given, without a copy: do not change one afterwards, set a new
 * object instead. A static pod and its mirror pod find each other by full name, whichever comes first.
 *
 * Every method that takes pods throws ERR_INVALID_ARGUMENT for one without a uid, name or namespace, and changes nothing.
 */
export class BasicPodManager implements PodManager {
  readonly #podByUID = new Map<string, Pod>();
  readonly #podByFullName = new Map<string, Pod>();
  readonly #mirrorPodByUID = new Map<string, Pod>();
  readonly #mirrorPodByFullName = new Map<string, Pod>();
  /** A mirror pod's uid -> its static pod's. */
  readonly #translationByUID = new Map<string, string>();
  /** Made when asked for, and kept until a change that would make another. */
  #translations: UIDTranslations | undefined;

  /** Every pod but the mirror pods, in no particular order. */
  getPods(): Pod[] {
    return [...this.#podByUID.values()];
  }

  /** Never a mirror pod. */
  getPodByUID(uid: string): Pod | undefined {
    return this.#podByUID.get(uid);
  }

  /** Never a mirror pod. */
  getPodByName(namespace: string, name: string): Pod | undefined {
    return this.getPodByFullName(buildPodFullName(name, namespace));
  }

  /** Never a mirror pod. */
  getPodByFullName(fullName: string): Pod | undefined {
    return this.#podByFullName.get(fullName);
  }

  /** The pod of the same full name. Does not ask whether the argument is a mirror pod. */
  getPodByMirrorPod(mirrorPod: Pod): Pod | undefined {
    return this.#podByFullName.get(podFullName(mirrorPod));
  }

  /** The mirror pod of the same full name. Does not ask whether the argument is a static pod. */
  getMirrorPodByPod(pod: Pod): Pod | undefined {
    return this.#mirrorPodByFullName.get(podFullName(pod));
  }

  getPodsAndMirrorPods(): PodsAndMirrorPods {
    const names = [...this.#mirrorPodByFullName.keys()];
    return {
      allPods: this.getPods(),
      allMirrorPods: [...this.#mirrorPodByUID.values()],
      orphanedMirrorPodFullnames: names.filter((fullName) => !this.#podByFullName.has(fullName)),
    };
  }

  /** Both sides of a pair, asked with either of them. */
  getPodAndMirrorPod(pod: Pod): PodAndMirrorPod {
    if (isMirrorPod(pod)) return { pod: this.getPodByMirrorPod(pod), mirrorPod: pod, wasMirror: true };
    return { pod, mirrorPod: this.getMirrorPodByPod(pod), wasMirror: false };
  }

  /** Every static pod, with its mirror pod or undefined. */
  getStaticPodToMirrorPodMap(): Map<Pod, Pod | undefined> {
    const staticPods = this.getPods().filter(isStaticPod);
    return new Map(staticPods.map((pod) => [pod, this.getMirrorPodByPod(pod)]));
  }

  /** A known mirror pod's uid becomes its static pod's; any other stays as it is. */
  translatePodUID(uid: string): string {
    return this.#translationByUID.get(uid) ?? uid;
  }

  /** The same object until something changes, so that asking costs nothing. */
  getUIDTranslations(): UIDTranslations {
    this.#translations ??= this.#makeTranslations();
    return this.#translations;
  }

  /** Forgets everything and takes these pods, in any order. All or nothing: one bad pod, and nothing has changed. */
  setPods(pods: Iterable<Pod>): void {
    const identified = Array.from(pods, (pod) => identify(pod));
    this.#podByUID.clear();
    this.#podByFullName.clear();
    this.#mirrorPodByUID.clear();
    this.#mirrorPodByFullName.clear();
    this.#translationByUID.clear();
    this.#translations = undefined;
    for (const { pod, uid, fullName } of identified) this.#put(pod, uid, fullName);
  }

  /** The same as {@link updatePod}. */
  addPod(pod: Pod): void {
    this.updatePod(pod);
  }

  /** Adds or replaces a pod, unless the one held is the same pod with a newer resourceVersion: a late answer changes nothing. */
  updatePod(pod: Pod): void {
    const { uid, fullName } = identify(pod);
    const held = isMirrorPod(pod) ? this.#mirrorPodByUID.get(uid) : this.#podByUID.get(uid);
    if (held === undefined || !isOlderThan(pod, held)) this.#put(pod, uid, fullName);
  }

  /**
   * Removes a pod by uid, and by full name unless a newer pod has that name by now (upstream drops the newer one's name).
   * As upstream, a mirror pod takes its full name with it, and its uid is still translated after its static pod is gone,
   * until the mirror pod is removed too.
   */
  removePod(pod: Pod): void {
    const { uid, fullName } = identify(pod);
    if (isMirrorPod(pod)) {
      this.#mirrorPodByUID.delete(uid);
      this.#mirrorPodByFullName.delete(fullName);
      this.#translationByUID.delete(uid);
    } else {
      this.#podByUID.delete(uid);
      if (this.#podByFullName.get(fullName)?.metadata?.uid === uid) this.#podByFullName.delete(fullName);
    }
    this.#translations = undefined;
  }

  #put(pod: Pod, uid: string, fullName: string): void {
    if (isMirrorPod(pod)) {
      this.#mirrorPodByUID.set(uid, pod);
      this.#mirrorPodByFullName.set(fullName, pod);
      this.#translate(uid, this.#podByFullName.get(fullName)?.metadata?.uid);
      return;
    }
    const held = this.#podByUID.get(uid);
    if (isStaticPod(pod) !== (held !== undefined && isStaticPod(held))) this.#translations = undefined;
    this.#podByUID.set(uid, pod);
    this.#podByFullName.set(fullName, pod);
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
    // Of several mirror pods of one static pod (an old one is not removed yet) the one first heard of last wins.
    for (const [mirrorPodUID, podUID] of this.#translationByUID) podToMirror.set(podUID, mirrorPodUID);
    return Object.freeze({ podToMirror, mirrorToPod: new Map(this.#translationByUID) });
  }
}
