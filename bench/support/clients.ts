import type { PodClient, PodDeletionSafety } from '../../src/index.ts';

/** The same answers as the peer's: no container runs, and no pod may be deleted. */
export const nothingToDelete: PodDeletionSafety = {
  podCouldHaveRunningContainers: () => false,
  podResourcesAreReclaimed: () => false,
};

/** A client whose patches succeed at once, so that only the manager's own work is measured. */
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

/** The given client with another `patchPodStatus`. */
export function withWrites(client: PodClient, patchPodStatus: PodClient['patchPodStatus']): PodClient {
  return {
    getPod: (...args) => client.getPod(...args),
    deletePod: (...args) => client.deletePod(...args),
    patchPodStatus,
  };
}

/** A client that makes every write twice, as a broken manager would. The second write names no resourceVersion. */
export function writingTwice(client: PodClient): PodClient {
  return withWrites(client, async (namespace, name, patch, options) => {
    await client.patchPodStatus(namespace, name, patch, options);
    const { metadata, ...body } = patch.body as { readonly metadata: { readonly uid: string } };
    const again = { ...patch, body: { ...body, metadata: { uid: metadata.uid } } };
    return client.patchPodStatus(namespace, name, again, options);
  });
}
