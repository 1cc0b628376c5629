import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ifCode, invalidArgument } from '../../base/errors.ts';
import { isPathSegment } from '../../base/options.ts';
import type { Mounter } from '../files/mounter.ts';
import { openFolder } from '../files/opened-folder.ts';
import { emptyTree, removeTree } from '../files/remove-tree.ts';

/** What of a volume must not outlive its pod, not even where it cannot be unmounted. */
const secretFolders = ['kubernetes.io~secret', 'kubernetes.io~projected'];

/** The folder of all pods. */
export function podsFolder(rootDirectory: string): string {
  return join(rootDirectory, 'pods');
}

/** The folder of one pod. Throws ERR_INVALID_ARGUMENT for a uid that is no plain name of a folder. */
export function podFolder(rootDirectory: string, podUID: string): string {
  if (!isFolderName(podUID)) throw invalidArgument('podUID', 'the name of a folder', podUID);
  return join(podsFolder(rootDirectory), podUID);
}

function isFolderName(podUID: string): boolean {
  return isPathSegment(podUID) && !podUID.startsWith('.') && !podUID.includes('\0');
}

/**
 * Unmounts what is mounted in the pod's folder, the deepest first, and then removes the folder. Secrets are wiped before they
 * are unmounted. While anything is still mounted nothing else is deleted: it rejects.
 */
export async function removePodFolder(folder: string, mounter: Mounter): Promise<void> {
  const found = await lstat(folder).catch(ifCode('ENOENT', 'ENOTDIR'));
  if (found === undefined) return;
  if (found.isDirectory()) await unmountAll(folder, mounter);
  await removeTree(folder);
}

async function unmountAll(folder: string, mounter: Mounter): Promise<void> {
  const failures: unknown[] = [];
  for (const target of await mounter.mountsBelow(folder)) {
    try {
      if (holdsSecrets(target) && (await mounter.isTmpfs(target))) await wipe(target);
    } catch (error) {
      failures.push(error);
    }
    await mounter.unmount(target).catch((error: unknown) => failures.push(error));
  }
  const left = await mounter.mountsBelow(folder);
  if (left.length === 0) return;
  throw new AggregateError(failures, `volumes in ${folder} are still mounted: ${left.slice(0, 5).join(', ')}`);
}

/** True for the folder of a volume whose files are secret. A sub path that shows a part of one is no such folder. */
function holdsSecrets(target: string): boolean {
  const [type, volumes] = [basename(dirname(target)), basename(dirname(dirname(target)))];
  return volumes === 'volumes' && secretFolders.includes(type);
}

/** What is unmounted while somebody still uses it lives on until then: empty, at least. */
async function wipe(target: string): Promise<void> {
  await emptyTree(await openFolder(target), target);
}

/** The uids of pods that have a folder. What can be no pod's is left out. */
export async function podsOnDisk(rootDirectory: string): Promise<readonly string[]> {
  const entries = await readdir(podsFolder(rootDirectory), { withFileTypes: true }).catch(ifCode('ENOENT'));
  return (entries ?? []).filter((entry) => entry.isDirectory() && isFolderName(entry.name)).map(({ name }) => name);
}
