import { readdir, rmdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { settledAtOnce } from '../../base/concurrency/aborts.ts';
import { ifCode, rejectionsOf, throwAll } from '../../base/errors.ts';
import type { Mounter } from '../volumes/mounter.ts';
import type { PodVolumeFolders } from './persistent-volume-kind.ts';

const atOnce = 8;

/** The paths of what is in a folder; nothing where it is not there. Nothing that is mounted there is touched. */
export async function pathsIn(folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder).catch(ifCode('ENOENT', 'ENOTDIR'))) ?? [];
  return names.map((name) => join(folder, name));
}

/** The names of what a pod has of one type, by its folders of volumes and devices. */
export async function namesOfType(type: string, { volumesFolder, devicesFolder }: PodVolumeFolders): Promise<readonly string[]> {
  const found = await Promise.all([volumesFolder, devicesFolder].map((folder) => pathsIn(join(folder, type))));
  return found.flat().map((path) => basename(path));
}

/** Does the work for each path. Rejects with all that has failed. */
export async function forEachPath(paths: readonly string[], work: (path: string) => Promise<void>): Promise<void> {
  const results = await settledAtOnce(paths, atOnce, work);
  throwAll(rejectionsOf(results));
}

/**
 * Unmounts a volume and removes its folder, which has to be empty then. What comes and goes below the mount is not shared any more before that: a
 * mount of the machine that has come into the volume stays where it is. `whenUnmounted` takes back what the volume stood on: the folder is the trace of it.
 */
export async function unmountAndRemove(
  folder: string,
  parent: string,
  mounter: Mounter,
  whenUnmounted: () => Promise<void> = async () => {},
): Promise<void> {
  // the root of the volume is never looked at: it may not answer
  const mounts = async (): Promise<readonly string[]> =>
    (await mounter.mountsBelow(parent)).filter((path) => path === folder || path.startsWith(`${folder}/`));
  const targets = await mounts();
  if (targets.some((target) => target !== folder) && targets.includes(folder)) await mounter.isolate(folder);
  for (const target of targets) await mounter.unmount(target);
  const [left] = await mounts();
  if (left !== undefined) throw new Error(`${left} is still mounted`);
  await whenUnmounted();
  await rmdir(folder).catch(ifCode('ENOENT'));
}
