// Behaviour of SetVolumeOwnership in pkg/volume/volume_linux.go, v1.36.3.

import { isUtf8 } from 'node:buffer';
import { chmod, type FileHandle, opendir } from 'node:fs/promises';
import { errorCodeOf } from '../../base/errors.ts';
import { bytesIn, openFolder, openNoFollow } from '../../node/files/opened-folder.ts';
import type { Mounter } from '../volumes/mounter.ts';

export interface FsGroupRequest {
  readonly mounter: Pick<Mounter, 'changeOwner'>;
  readonly folder: string;
  readonly gid: number;
  /** True: a volume whose root is right already is left as it is. */
  readonly onRootMismatch: boolean;
  readonly signal: AbortSignal;
}

const folderBits = 0o2770;
const fileBits = 0o660;
/** A deeper tree is refused: each level needs an opened folder. */
const deepest = 256;

/**
 * Gives the files of a volume to a group, and lets it write. The root comes last: a volume whose root is right was done to its end. No symbolic
 * link is followed, whatever somebody changes meanwhile.
 */
export async function applyFsGroup(request: FsGroupRequest): Promise<void> {
  const root = await openFolder(request.folder);
  try {
    const { gid, mode } = await root.stat();
    if (request.onRootMismatch && gid === request.gid && (mode & folderBits) === folderBits) return;
    await changeBelow(root, request, 0);
    await request.mounter.changeOwner(request.folder, { gid: request.gid });
    await addMode(root, folderBits);
  } finally {
    await root.close();
  }
}

async function changeBelow(folder: FileHandle, request: FsGroupRequest, depth: number): Promise<void> {
  if (depth >= deepest) throw new Error(`the folders of the volume are deeper than ${deepest}`);
  const entries = await opendir(bytesIn(folder, Buffer.from('.')), { encoding: 'buffer' as BufferEncoding });
  for await (const entry of entries) {
    request.signal.throwIfAborted();
    try {
      await changeEntry(folder, entry.name as unknown as Buffer, request, depth);
    } catch (error) {
      // it is gone meanwhile
      if (errorCodeOf(error) !== 'ENOENT') throw error;
    }
  }
}

async function changeEntry(folder: FileHandle, name: Buffer, request: FsGroupRequest, depth: number): Promise<void> {
  const path = bytesIn(folder, name);
  const entry = await openNoFollow(path);
  try {
    const stats = await entry.stat();
    if (stats.isDirectory()) await changeBelow(entry, request, depth + 1);
    // a name that is no text keeps its group
    if (isUtf8(name)) await request.mounter.changeOwner(path.toString(), { gid: request.gid });
    if (!stats.isSymbolicLink()) await addMode(entry, stats.isDirectory() ? folderBits : fileBits);
  } finally {
    await entry.close();
  }
}

async function addMode(handle: FileHandle, bits: number): Promise<void> {
  const { mode } = await handle.stat();
  if ((mode & bits) === bits) return;
  // a handle that cannot read refuses fchmod(2)
  await chmod(`/proc/self/fd/${handle.fd}`, (mode & 0o7777) | bits);
}
