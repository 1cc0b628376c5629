// Behaviour of pkg/volume/emptydir, v1.36.3.

import { chmod, lstat, mkdir, mkdtemp, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ifCode } from '../../base/errors.ts';
import { removeTree } from '../files/remove-tree.ts';
import { memorySize } from './file-bytes.ts';
import type { MountedVolume } from './pod-volumes.ts';
import type { VolumeRequest } from './volume-request.ts';

const emptyDirMode = 0o777;
/** The kernel's mode for the root of a file system in memory; its sticky bit stays. */
const tmpfsMode = 0o1777;
const setGroupID = 0o2000;
const hiddenMode = 0o750;

type FolderRequest = Pick<VolumeRequest, 'fsGroup' | 'parts' | 'signal'>;

/** An empty folder, on disk or in memory, that everybody can write to. */
export async function mountEmptyDir(request: VolumeRequest): Promise<MountedVolume> {
  const { pod, volume, volumesFolder, parts } = request;
  const folder = join(volumesFolder, 'kubernetes.io~empty-dir', volume.name);
  const medium = volume.emptyDir?.medium ?? '';
  if (medium === '') await makeEmptyDir(folder, request);
  else if (medium !== 'Memory') throw new Error(`unknown storage medium ${JSON.stringify(medium)}`);
  else
    await makeMemoryFolder(
      folder,
      request,
      memorySize(pod, parts.nodeAllocatable().memory, volume.emptyDir?.sizeLimit ?? undefined),
    );
  return { name: volume.name, type: 'emptyDir', hostPath: folder, readonly: false, selinuxRelabel: true };
}

/** Makes a folder with its mode and its group, unless it is there. A half-made one is never seen. */
export async function makeEmptyDir(folder: string, { fsGroup, parts }: FolderRequest): Promise<void> {
  if ((await lstat(folder).catch(ifCode('ENOENT')))?.isDirectory()) return;
  const parent = dirname(folder);
  await mkdir(parent, { recursive: true, mode: hiddenMode });
  // no volume has a name with two dots in front
  const made = await mkdtemp(join(parent, '..new-'));
  try {
    if (fsGroup !== undefined) await parts.mounter.changeOwner(made, { gid: fsGroup });
    await chmod(made, fsGroup === undefined ? emptyDirMode : emptyDirMode | setGroupID);
    await rename(made, folder);
  } catch (error) {
    await removeTree(made);
    throw error;
  }
}

/** Mounts a file system in memory, unless it is there. */
export async function makeMemoryFolder(folder: string, request: FolderRequest, sizeBytes?: number): Promise<void> {
  const { fsGroup, parts, signal } = request;
  if (await parts.mounter.isTmpfs(folder)) return;
  await mkdir(folder, { recursive: true, mode: hiddenMode });
  const mode = fsGroup === undefined ? tmpfsMode : tmpfsMode | setGroupID;
  await parts.mounter.mountTmpfs(folder, { sizeBytes, mode, gid: fsGroup }, signal);
}
