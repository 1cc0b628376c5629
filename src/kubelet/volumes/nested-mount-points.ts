// Behaviour of MakeNestedMountpoints in pkg/volume/util/nested_volumes.go, v1.36.3.

import { posix } from 'node:path';
import type { Pod } from '../../api/json/types.ts';
import { makeFoldersIn, openFolder } from '../files/opened-folder.ts';
import { containersOfPod } from './pod-users.ts';

/** The longest path that the kernel takes. */
const longestPath = 4096;

/**
 * Where in this volume other volumes of a container are mounted: paths in the volume, none below another one of its container.
 * Throws for one that no kernel takes.
 */
function nestedMountPoints(pod: Pod, volumeName: string): readonly string[] {
  const found = new Set<string>();
  for (const { volumeMounts } of containersOfPod(pod)) {
    const mounts = (volumeMounts ?? []).map(({ name, mountPath }) => ({ name, path: plainPath(mountPath) }));
    const own = mounts.filter(({ name }) => name === volumeName);
    if (own.length === 0) continue;
    // with this sign for the slash, what is below a path comes right behind it
    const paths = mounts.map(({ path }) => path.replaceAll('/', '\0')).sort();
    const places = new Map(paths.map((path, index) => [path.replaceAll('\0', '/'), index]));
    for (const { path } of own) addBelow(path, paths, (places.get(path) ?? paths.length) + 1, found);
  }
  return [...found];
}

function addBelow(path: string, paths: readonly string[], from: number, found: Set<string>): void {
  const prefix = `${path}/`.replaceAll('/', '\0');
  let last: string | undefined;
  for (let index = from; paths[index]?.startsWith(prefix); index += 1) {
    const other = paths[index] ?? '';
    if (last !== undefined && other.startsWith(`${last}\0`)) continue;
    last = other;
    if (other.length > longestPath) throw new Error(`the path of a mount is longer than ${longestPath} characters`);
    found.add(other.slice(prefix.length).replaceAll('\0', '/'));
  }
}

function plainPath(mountPath: string): string {
  return posix.normalize(mountPath).replace(/\/$/, '');
}

/** Makes the folders that other volumes are mounted on: a container cannot make them in a volume that it can only read. */
export async function makeNestedMountPoints(pod: Pod, volumeName: string, folder: string): Promise<void> {
  for (const path of nestedMountPoints(pod, volumeName)) {
    const made = await makeFoldersIn(await openFolder(folder), path.split('/'), 0o755);
    await made.close();
  }
}
