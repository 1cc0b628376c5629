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

/** A client that does what the given one does, but for its writes. */
export function withWrites(client: PodClient, patchPodStatus: PodClient['patchPodStatus']): PodClient {
  return {
    getPod: (...args) => client.getPod(...args),
    deletePod: (...args) => client.deletePod(...args),
    patchPodStatus,
  };
}

/** A client that makes every write twice, the second time against no version: what a broken manager would do. */
export function writingTwice(client: PodClient): PodClient {
  return withWrites(client, async (namespace, name, patch, options) => {
    await client.patchPodStatus(namespace, name, patch, options);
    const { metadata, ...body } = patch.body as { readonly metadata: { readonly uid: string } };
    const again = { ...patch, body: { ...body, metadata: { uid: metadata.uid } } };
    return client.patchPodStatus(namespace, name, again, options);
  });
}
