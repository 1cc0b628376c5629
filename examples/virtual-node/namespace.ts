import { type AdminClient, refused } from './admin-client.ts';

/** Where a run's pods are. */
export interface RunNamespace {
  readonly name: string;
  /** Takes the run's pods away, and the namespace too if the run has made it. Resolves to what was done. */
  cleanUp(): Promise<string>;
}

/** Makes the namespace, or uses the one that is there. `labelSelector` selects the run's pods. */
export async function claimNamespace(admin: AdminClient, name: string, labelSelector: string): Promise<RunNamespace> {
  const answer = await admin.createNamespace(name);
  const isOurs = answer.status === 201;
  if (!isOurs && answer.status !== 409) throw refused(`Creating namespace ${name}`, answer);
  const cleanUp = async (): Promise<string> => {
    // no kubelet would ever confirm the end of these pods: force
    const pods = await admin.deletePods(name, labelSelector);
    if (pods.status >= 300 && pods.status !== 404) throw refused(`Deleting the pods in namespace ${name}`, pods);
    if (!isOurs) return `the pods are deleted; namespace ${name} was there before and stays`;
    const deleted = await admin.deleteNamespace(name);
    if (deleted.status >= 300 && deleted.status !== 404) throw refused(`Deleting namespace ${name}`, deleted);
    return `namespace ${name} is removed`;
  };
  return { name, cleanUp };
}
