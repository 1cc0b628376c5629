// Behaviour of pkg/volume/hostpath, v1.36.3.
import type { Stats } from 'node:fs';
import { chmod, lstat, mkdtemp, open, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { whileGoing } from '../../base/concurrency/aborts.ts';
import { errorCodeOf, ifCode } from '../../base/errors.ts';
import { makeFolders } from '../../node/files/make-folders.ts';
import { removeTree } from '../../node/files/remove-tree.ts';
import { memorySize } from '../../node/pod-files/file-bytes.ts';
import type { MountedVolume } from './pod-folder.ts';
import type { VolumeRequest } from './volume-request.ts';

const folderMode = 0o755;
const fileMode = 0o644;

interface HostPathSource {
  readonly path?: string | undefined;
  readonly type?: string | undefined;
}

interface PathType {
  readonly is: (found: Stats) => boolean;
  readonly called: string;
  readonly make?: (path: string) => Promise<void>;
}

const folder: PathType = { is: (found) => found.isDirectory(), called: 'a directory' };
const file: PathType = { is: (found) => found.isFile(), called: 'a file' };

const pathTypes: Readonly<Record<string, PathType>> = {
  Directory: folder,
  DirectoryOrCreate: { ...folder, make: makeFolder },
  File: file,
  FileOrCreate: { ...file, make: makeFile },
  Socket: { is: (found) => found.isSocket(), called: 'a socket file' },
  CharDevice: { is: (found) => found.isCharacterDevice(), called: 'a character device' },
  BlockDevice: { is: (found) => found.isBlockDevice(), called: 'a block device' },
};

/** A file or folder of the node itself. */
export async function mountHostPath({ volume }: VolumeRequest): Promise<MountedVolume> {
  const path = await checkedHostPath(volume.hostPath ?? {});
  return { name: volume.name, type: 'hostPath', hostPath: path, readonly: false, selinuxRelabel: false };
}

/** The path, once what is there is of the type that was asked for; it may have been made. */
export async function checkedHostPath({ path = '', type }: HostPathSource): Promise<string> {
  if (!path.startsWith('/') || path.includes('\0')) throw new Error(`invalid HostPath \`${path}\`: must be an absolute path`);
  if (path.split('/').includes('..')) throw new Error(`invalid HostPath \`${path}\`: must not contain '..'`);
  if (type) await checkType(path, type);
  return path;
}

async function checkType(path: string, type: string): Promise<void> {
  const pathType = Object.hasOwn(pathTypes, type) ? pathTypes[type] : undefined;
  if (pathType === undefined) throw new Error(`${type} is an invalid volume type`);
  const found = await stat(path).catch((error: unknown) => {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw new Error(`hostPath type check failed: ${path} is not ${pathType.called}`, { cause: error });
  });
  if (found === undefined && pathType.make !== undefined) return pathType.make(path);
  if (found === undefined || !pathType.is(found))
    throw new Error(`hostPath type check failed: ${path} is not ${pathType.called}`);
}

async function makeFolder(path: string): Promise<void> {
  await makeFolders(path, folderMode);
}

async function makeFile(path: string): Promise<void> {
  await (await open(path, 'a', fileMode)).close();
}

// Behaviour of pkg/volume/emptydir, v1.36.3.

const emptyDirMode = 0o777;
/** The kernel's mode for the root of a file system in memory; its sticky bit stays. */
const tmpfsMode = 0o1777;
const setGroupID = 0o2000;
const hiddenMode = 0o750;

type FolderRequest = Pick<VolumeRequest, 'fsGroup' | 'options' | 'signal'>;

/** An empty folder, on disk or in memory, that everybody can write to. */
export async function mountEmptyDir(request: VolumeRequest): Promise<MountedVolume> {
  const { pod, volume, volumesFolder, options } = request;
  const folder = join(volumesFolder, 'kubernetes.io~empty-dir', volume.name);
  const medium = volume.emptyDir?.medium ?? '';
  if (medium === '') await makeEmptyDir(folder, request);
  else if (medium !== 'Memory') throw new Error(`unknown storage medium ${JSON.stringify(medium)}`);
  else
    await makeMemoryFolder(
      folder,
      request,
      memorySize(pod, options.nodeAllocatable().memory, volume.emptyDir?.sizeLimit ?? undefined),
    );
  return { name: volume.name, type: 'emptyDir', hostPath: folder, readonly: false, selinuxRelabel: true };
}

/** Makes a folder with its mode and its group, unless it is there. A half-made one is never seen. */
export async function makeEmptyDir(folder: string, { fsGroup, options }: FolderRequest): Promise<void> {
  if ((await lstat(folder).catch(ifCode('ENOENT')))?.isDirectory()) return;
  const parent = dirname(folder);
  await makeFolders(parent, hiddenMode);
  // no volume has a name with two dots in front
  const made = await mkdtemp(join(parent, '..new-'));
  try {
    if (fsGroup !== undefined) await options.mounter.changeOwner(made, { gid: fsGroup });
    await chmod(made, fsGroup === undefined ? emptyDirMode : emptyDirMode | setGroupID);
    await rename(made, folder);
  } catch (error) {
    await removeTree(made);
    throw error;
  }
}

/** Mounts a file system in memory, unless it is there. */
export async function makeMemoryFolder(folder: string, request: FolderRequest, sizeBytes?: number): Promise<void> {
  const { fsGroup, options, signal } = request;
  if (await options.mounter.isTmpfs(folder)) return;
  await makeFolders(folder, hiddenMode);
  const mode = fsGroup === undefined ? tmpfsMode : tmpfsMode | setGroupID;
  await options.mounter.mountTmpfs(folder, { sizeBytes, mode, gid: fsGroup }, signal);
}

/** The content of an image. The runtime mounts it; here it is only pulled. */
export async function mountImage({ pod, volume, options, signal }: VolumeRequest): Promise<MountedVolume> {
  const { ensureImage } = options;
  if (ensureImage === undefined) throw new Error('image volumes are not supported by this agent');
  const imageRef = await whileGoing(() => ensureImage(pod, volume, signal), signal);
  if (typeof imageRef !== 'string' || imageRef === '') throw new Error('the image was pulled, and nobody knows as what');
  return { name: volume.name, type: 'image', hostPath: '', readonly: true, selinuxRelabel: false, imageRef };
}
