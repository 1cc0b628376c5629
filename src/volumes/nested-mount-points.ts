// Behaviour of MakeNestedMountpoints in pkg/volume/util/nested_volumes.go, v1.36.3.

import { posix } from 'node:path';
import { makeFoldersIn, openFolder } from '../files/opened-folder.ts';
import type { Pod } from '../wire/types.ts';
import { containersOfPod } from './pod-users.ts';

/** Where in this volume other volumes of a container are mounted: paths in the volume, none below another one of its container. */
function nestedMountPoints(pod: Pod, volumeName: string): readonly string[] {
  const found = new Set<string>();
  for (const { volumeMounts } of containersOfPod(pod)) {
    const mounts = (volumeMounts ?? []).map(({ name, mountPath }) => ({
      name,
      path: posix.normalize(mountPath).replace(/\/$/, ''),
    }));
    const paths = mounts.map(({ path }) => path).sort();
    for (const { name, path } of mounts) {
      if (name !== volumeName) continue;
      const below: string[] = [];
      for (const other of paths) {
        if (!other.startsWith(`${path}/`) || below.some((parent) => other.startsWith(`${parent}/`))) continue;
        below.push(other);
        found.add(other.slice(path.length + 1));
      }
    }
  }
  return [...found];
}

/** Makes the folders that other volumes are mounted on: a container cannot make them in a volume that it can only read. */
export async function makeNestedMountPoints(pod: Pod, volumeName: string, folder: string): Promise<void> {
  for (const path of nestedMountPoints(pod, volumeName)) {
    const made = await makeFoldersIn(await openFolder(folder), path.split('/'), 0o755);
    await made.close();
  }
}
