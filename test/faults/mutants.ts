import type { PodClient, PodStatusPatch } from '../../src/index.ts';

/** Managers that are broken on purpose, to see that the checker sees it. Each breaks one promise on its way out. */
export const mutantNames = ['order not kept', 'uid not sent', 'foreign conditions replaced'] as const;
export type MutantName = (typeof mutantNames)[number];

type StatusPatch = { metadata?: Record<string, unknown>; status?: { conditions?: Record<string, unknown>[] } };

function changingPatch(client: PodClient, change: (patch: StatusPatch) => void): PodClient {
  return {
    getPod: (...args) => client.getPod(...args),
    patchPodStatus: (namespace, name, { type, body }, options) => {
      const patch: StatusPatch = structuredClone(body as StatusPatch);
      change(patch);
      const changed: PodStatusPatch = { type, body: patch };
      return client.patchPodStatus(namespace, name, changed, options);
    },
    deletePod: (...args) => client.deletePod(...args),
  };
}

/** Without a resourceVersion a PATCH the server runs late lands on top of newer ones. */
function orderNotKept(client: PodClient): PodClient {
  return changingPatch(client, ({ metadata }) => {
    delete metadata?.resourceVersion;
  });
}

/** Neither PATCH nor DELETE says which pod of the name is meant. */
function uidNotSent(client: PodClient): PodClient {
  const changed = changingPatch(client, (patch) => {
    delete patch.metadata;
  });
  return {
    ...changed,
    // the client leaves out what is undefined, and a precondition without a uid holds for every pod
    deletePod: (namespace, name, options) =>
      client.deletePod(namespace, name, { ...options, uid: undefined as unknown as string }),
  };
}

/** The whole list is the manager's own. */
function foreignConditionsReplaced(client: PodClient): PodClient {
  return changingPatch(client, ({ status }) => {
    if (status?.conditions === undefined) return;
    const own = status.conditions.filter((condition) => condition.$patch === undefined && condition.type !== undefined);
    status.conditions = [{ $patch: 'replace' }, ...own];
    delete (status as Record<string, unknown>)['$setElementOrder/conditions'];
  });
}

export const mutants: Readonly<Record<MutantName, (client: PodClient) => PodClient>> = {
  'order not kept': orderNotKept,
  'uid not sent': uidNotSent,
  'foreign conditions replaced': foreignConditionsReplaced,
};
