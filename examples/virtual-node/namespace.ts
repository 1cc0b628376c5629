import { type AdminClient, statusOf } from './admin-client.ts';

/** The namespace of a run's pods. */
export interface RunNamespace {
  readonly name: string;
  /** Deletes the run's pods, and the namespace if the run created it. Resolves to a sentence that says what was done. */
  cleanUp(): Promise<string>;
}

/** Creates the namespace, or uses an existing one. `labelSelector` selects the run's pods. */
export async function claimNamespace(admin: AdminClient, name: string, labelSelector: string): Promise<RunNamespace> {
  const isOurs = await createUnlessThere(admin, name);
  const cleanUp = async (): Promise<string> => {
    // by force, because the node that would confirm the end of these pods is gone
    await unlessGone(admin.deletePods(name, labelSelector));
    if (!isOurs) return `the pods are deleted; namespace ${name} was there before and stays`;
    await unlessGone(admin.deleteNamespace(name));
    return `namespace ${name} is removed`;
  };
  return { name, cleanUp };
}

/** False when the namespace was there before. */
async function createUnlessThere(admin: AdminClient, name: string): Promise<boolean> {
  try {
    await admin.createNamespace(name);
    return true;
  } catch (error) {
    if (statusOf(error) === 409) return false;
    throw error;
  }
}

/** What is gone already need not be deleted. */
async function unlessGone(deletion: Promise<void>): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    if (statusOf(error) !== 404) throw error;
  }
}
