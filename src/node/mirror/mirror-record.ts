import { isOlderThan } from '../../api/json/resource-version.ts';
import type { Pod, WirePod } from '../../api/json/types.ts';
import { configHashAnnotationKey, isMirrorPod, podUIDOf } from '../../api/pod/pod-identity.ts';
import { type PodFields, podFields } from '../../api/pod/pod-log-fields.ts';
import { Backoff, type BackoffOptions } from '../../base/concurrency/backoff.ts';
import { LateSet } from '../../base/concurrency/late-collections.ts';
import type { MirrorPair } from './mirror-pods.ts';

const nobody: MirrorPair = { staticPod: undefined, mirrorPods: [] };

/** What the server has under the name, compared with what was known. */
export type Found = 'none' | 'ours' | 'foreign' | 'contradiction';

/**
 * What is known of one full name: what the pod manager shows, and what our own requests have told beyond that. A watch is
 * later than an answer, so that for a while the pod manager shows mirror pods that are gone, and lacks new ones.
 */
export class MirrorRecord {
  readonly #backoff: Backoff;
  #pair = nobody;
  /** True from the beginning of a request until its promise has settled. */
  underWay = false;
  /** A pod has the name, and it is not known which. */
  inDoubt = false;
  /** What the last failure waits for, while its backoff lasts. */
  waitsFor: 'server' | 'pod' | undefined;
  /** A success of another pod has ended a wait since the last success of this one. */
  releasedByOthers = false;
  /** How often in a row the server was asked about what the pod manager does not show. */
  verifications = 0;
  #unseen: WirePod | undefined;
  #heldUID: string | undefined;
  #conflictUID: string | undefined;
  /** The mirror pods that are gone though the pod manager shows them. */
  readonly #gone = new LateSet<string>();
  /** The mirror pods that the pod manager has shown since the last request began. */
  readonly #shown = new LateSet<string>();
  /** Those of them that the present view knows of: it shows them, or they have gone again. */
  readonly #digested = new LateSet<string>();

  constructor(backoff: BackoffOptions) {
    this.#backoff = new Backoff(backoff);
  }

  get staticPod(): Pod | undefined {
    return this.#pair.staticPod;
  }

  get heldUID(): string | undefined {
    return this.#heldUID;
  }

  /** True when the server may have told more than the pod manager shows: it is asked again after a while. */
  get isUnverified(): boolean {
    const uid = this.mirrorPod?.metadata?.uid;
    return uid !== undefined && (uid === this.#unseen?.metadata?.uid || uid === this.#heldUID);
  }

  /** True when nothing is left to remember. */
  get isEmpty(): boolean {
    return !this.underWay && this.staticPod === undefined && this.mirrorPod === undefined;
  }

  /** The mirror pod that is on the server, as far as is known. */
  get mirrorPod(): Pod | undefined {
    const shown = this.#pair.mirrorPods.findLast((pod) => !this.#gone.has(podUIDOf(pod)));
    const unseen = this.#unseen;
    if (unseen === undefined || shown === undefined) return shown ?? unseen;
    return isOlderThan(shown, unseen) ? unseen : shown;
  }

  /** The pod manager's present view. Returns whether the static pod is another one than before, or has another hash. */
  show(pair: MirrorPair = nobody): boolean {
    const before = this.#pair.staticPod;
    this.#pair = pair;
    for (const mirrorPod of pair.mirrorPods) this.noteShown(podUIDOf(mirrorPod));
    for (const uid of this.#shown) this.#digested.add(uid);
    for (const uid of this.#gone) if (!isShownIn(pair, uid)) this.#gone.delete(uid);
    if (this.#unseen !== undefined && this.#digested.has(podUIDOf(this.#unseen))) this.#unseen = undefined;
    return before !== pair.staticPod && identityOf(before) !== identityOf(pair.staticPod);
  }

  /** The pod manager has shown this mirror pod: its next view is newer than any answer about that pod. */
  noteShown(uid: string): void {
    if (this.underWay || uid === this.#unseen?.metadata?.uid) this.#shown.add(uid);
  }

  begin(): void {
    this.underWay = true;
    this.#shown.clear();
    this.#digested.clear();
  }

  succeed(): void {
    this.#backoff.reset();
    this.releasedByOthers = false;
  }

  /** Returns the wait that follows a failure, in milliseconds. */
  fail(waitsFor: 'server' | 'pod', retryAfterMs: number | undefined): number {
    this.waitsFor = waitsFor;
    return this.#backoff.next(retryAfterMs);
  }

  noteCreated(mirrorPod: WirePod): void {
    this.verifications = 0;
    if (!this.#digested.has(podUIDOf(mirrorPod))) this.#unseen = mirrorPod;
  }

  /** The server has taken the DELETE of this pod, or has said that it has no such pod. */
  noteDeleted(uid: string, heldByFinalizers: boolean): void {
    if (heldByFinalizers) this.#heldUID = uid;
    else this.#noteGone(uid);
  }

  /** The server has refused to delete this pod: another one may have its name. */
  noteConflict(uid: string): void {
    this.#conflictUID = uid;
    this.inDoubt = true;
  }

  /** Nothing can be learnt of what the server has: what is not shown counts as absent. */
  forgetUnseen(): void {
    this.inDoubt = false;
    this.#unseen = undefined;
    this.#heldUID = undefined;
  }

  /**
   * The server's answer about the name. `contradiction`: it has a pod that it has called gone before, or that it has refused
   * to delete; or, as the plugin NodeRestriction looks into a cache of its own, has not seen yet.
   */
  noteFound(pod: WirePod | undefined, nodeName: string): Found {
    const known = this.mirrorPod?.metadata?.uid;
    const uid = pod === undefined ? undefined : podUIDOf(pod);
    this.inDoubt = false;
    this.#unseen = undefined;
    this.#heldUID = undefined;
    if (known !== undefined && known !== uid) this.#noteGone(known);
    if (pod === undefined || uid === undefined) return 'none';
    if (!isMirrorPod(pod) || pod.spec?.nodeName !== nodeName) return 'foreign';
    const isHeld = Boolean(pod.metadata?.deletionTimestamp) && Boolean(pod.metadata?.finalizers?.length);
    if (isHeld && pod.metadata?.deletionGracePeriodSeconds === 0) this.#heldUID = uid;
    if (!isShownIn(this.#pair, uid) && !this.#digested.has(uid)) this.#unseen = pod;
    const wasDenied = this.#gone.delete(uid) || this.#conflictUID === uid;
    this.#conflictUID = undefined;
    return wasDenied && !isHeld ? 'contradiction' : 'ours';
  }

  #noteGone(uid: string): void {
    if (this.#unseen !== undefined && podUIDOf(this.#unseen) === uid) this.#unseen = undefined;
    this.#gone.add(uid);
  }
}

function isShownIn({ mirrorPods }: MirrorPair, uid: string): boolean {
  return mirrorPods.some((pod) => podUIDOf(pod) === uid);
}

function identityOf(pod: Pod | undefined): string {
  return JSON.stringify([pod?.metadata?.uid, pod?.metadata?.annotations?.[configHashAnnotationKey]]);
}

/** What names the pod of this full name in a log line: its uid is that of the static pod. */
export function mirrorFields(
  podFullName: string,
  record: MirrorRecord,
): PodFields & { readonly mirrorPodUID: string | undefined } {
  // a name of the apiserver has no underscore
  const [name, namespace] = podFullName.split('_', 2);
  const { staticPod, mirrorPod } = record;
  return { ...podFields({ namespace, name, uid: staticPod?.metadata?.uid }), mirrorPodUID: mirrorPod?.metadata?.uid };
}
