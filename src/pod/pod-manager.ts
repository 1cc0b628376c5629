import type { Pod } from '../wire/types.ts';

/** The uids of static pods and their mirror pods, both ways. */
export interface UIDTranslations {
  /** Every static pod's uid, to its mirror pod's uid, or to '' while no mirror pod is known. */
  readonly podToMirror: ReadonlyMap<string, string>;
  /** Every known mirror pod's uid that has a static pod, to that pod's uid. */
  readonly mirrorToPod: ReadonlyMap<string, string>;
}

/**
 * What the status manager asks of a pod manager: the agent's own view of its pods.
 * Objects handed out are not changed afterwards; a pod that changes is another object.
 */
export interface PodManager {
  /** The pod with this uid; a mirror pod is never found here. */
  getPodByUID(uid: string): Pod | undefined;
  /** The mirror pod of a static pod, by full name. */
  getMirrorPodByPod(pod: Pod): Pod | undefined;
  /** A mirror pod's uid becomes its static pod's; any other stays as it is. */
  translatePodUID(uid: string): string;
  getUIDTranslations(): UIDTranslations;
  /**
   * If there: calls the listener after each change, with the uid of the pod that changed, and for a change of a mirror pod
   * with the uid of its static pod. Returns what ends the subscription. The manager then looks at a pod as soon as its copy
   * or its mirror pod changes, and not at the next batch.
   */
  subscribe?(listener: (podUID: string) => void): () => void;
}
