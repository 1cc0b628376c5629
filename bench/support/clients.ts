import type { PodClient, PodDeletionSafety } from '../../src/index.ts';

/** As the peer's: nothing runs any more, and nothing is deleted either. */
export const nothingToDelete: PodDeletionSafety = {
  podCouldHaveRunningContainers: () => false,
  podResourcesAreReclaimed: () => false,
};

/** An apiserver that takes every patch at once: what is left is the client's own work, without a wire. */
export function instantClient(): PodClient & { readonly requests: number } {
  let requests = 0;
  let resourceVersion = 1_000_000;
  const refuse = () => Promise.reject(new Error('not expected in this benchmark'));
  return {
    get requests() {
      return requests;
    },
    getPod: refuse,
    deletePod: refuse,
    patchPodStatus(_namespace, _name, patch) {
      requests++;
      const { metadata } = patch.body as { metadata: { uid: string } };
      return Promise.resolve({ uid: metadata.uid, resourceVersion: String(++resourceVersion) });
    },
  };
}
