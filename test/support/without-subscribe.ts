import type { PodManager } from '../../src/index.ts';

/** The pod manager with only the four methods that every pod manager has. */
export function withoutSubscribe(podManager: PodManager): PodManager {
  return {
    getPodByUID: (uid) => podManager.getPodByUID(uid),
    getMirrorPodByPod: (pod) => podManager.getMirrorPodByPod(pod),
    translatePodUID: (uid) => podManager.translatePodUID(uid),
    getUIDTranslations: () => podManager.getUIDTranslations(),
  };
}
