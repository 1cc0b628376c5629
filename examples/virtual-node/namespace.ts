import { type AdminClient, refused } from './admin-client.ts';

/** The namespace of a run's pods. */
export interface RunNamespace {
  readonly name: string;
  /** Deletes the run's pods, and the namespace if the run created it. Resolves to a sentence that says what was done. */
  cleanUp(): Promise<string>;
}

/** Creates the namespace, or uses an existing one. `labelSelector` selects the run's pods. */
export async function claimNamespace(admin: AdminClient, name: string, labelSelector: string): Promise<RunNamespace> {
  const answer = await admin.createNamespace(name);
  const isOurs = answer.status === 201;
  if (!isOurs && answer.status !== 409) throw refused(`Creating namespace ${name}`, answer);
  const cleanUp = async (): Promise<string> => {
    // by force, because the node that would confirm the end of these pods is gone
    const pods = await admin.deletePods(name, labelSelector);
    if (pods.status >= 300 && pods.status !== 404) throw refused(`Deleting the pods in namespace ${name}`, pods);
    if (!isOurs) return `the pods are deleted; namespace ${name} was there before and stays`;
    const deleted = await admin.deleteNamespace(name);
    if (deleted.status >= 300 && deleted.status !== 404) throw refused(`Deleting namespace ${name}`, deleted);
    return `namespace ${name} is removed`;
  };
  return { name, cleanUp };
}
