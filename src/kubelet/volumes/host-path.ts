// Behaviour of pkg/volume/hostpath, v1.36.3.

import type { Stats } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { errorCodeOf } from '../../base/errors.ts';
import type { MountedVolume } from './pod-volumes.ts';
import type { VolumeRequest } from './volume-request.ts';

const folderMode = 0o755;
const fileMode = 0o644;

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
  const { path = '', type } = volume.hostPath ?? {};
  if (!path.startsWith('/') || path.includes('\0')) throw new Error(`invalid HostPath \`${path}\`: must be an absolute path`);
  if (path.split('/').includes('..')) throw new Error(`invalid HostPath \`${path}\`: must not contain '..'`);
  if (type) await checkType(path, type);
  return { name: volume.name, type: 'hostPath', hostPath: path, readonly: false, selinuxRelabel: false };
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
  await mkdir(path, { recursive: true, mode: folderMode });
}

async function makeFile(path: string): Promise<void> {
  await (await open(path, 'a', fileMode)).close();
}
