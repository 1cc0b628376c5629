import type { Pod } from '../../api/json/types.ts';

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
  /** The uids of all static pods and mirror pods that are known. */
  getUIDTranslations(): UIDTranslations;
  /**
   * Calls `listener` after a pod was added, removed or replaced by another object, with the uid of the pod that the change
   * concerns: the pod's own, or, for a change of a mirror pod, its static pod's (the mirror pod's own while no pod has its
   * full name). A pod manager without this method works too: the status manager then finds changes at its next batch.
   *
   * A listener may be called at any time, before the method that made the change returns. It may ask the pod manager
   * anything and must not change it. Returns a function that ends the subscription; a second call of it does nothing.
   */
  subscribe?(listener: (podUID: string) => void): () => void;
}
