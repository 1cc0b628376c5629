// Behaviour of SetVolumeOwnership in pkg/volume/volume_linux.go, v1.36.3.

import { isUtf8 } from 'node:buffer';
import { chmod, type FileHandle, opendir } from 'node:fs/promises';
import { errorCodeOf, ifCode } from '../../base/errors.ts';
import { bytesIn, openFolder, openNoFollow } from '../../node/files/opened-folder.ts';
import type { Mounter } from './mounter.ts';

export interface FsGroupRequest {
  readonly mounter: Pick<Mounter, 'changeOwner'>;
  readonly folder: string;
  readonly gid: number;
  /** True: a volume whose root is right already is left as it is. */
  readonly onRootMismatch: boolean;
  readonly signal: AbortSignal;
  /** Makes a call in the volume when it is its turn. */
  readonly inTurn: <T>(call: () => Promise<T>) => Promise<T>;
}

/** Changes that the file system has refused. */
class Refusals {
  first: unknown;

  /** What is gone meanwhile is no refusal. */
  async noted(change: Promise<void>): Promise<void> {
    await change.catch((error: unknown) => {
      if (errorCodeOf(error) !== 'ENOENT') this.first ??= error;
    });
  }
}

const folderBits = 0o2770;
const fileBits = 0o660;
/** A deeper tree is refused: each level needs an opened folder. */
const deepest = 256;

/**
 * Gives the files of a volume to a group, and lets it write. The root comes last: a volume whose root is right was done to its end. No symbolic
 * link is followed, whatever somebody changes meanwhile.
 *
 * A file that the file system lets nobody change stays as it is: resolves with the first such error, or undefined. Rejects where the tree cannot
 * be read to its end.
 */
export async function applyFsGroup(request: FsGroupRequest): Promise<unknown> {
  const { folder, mounter, inTurn } = request;
  const refusals = new Refusals();
  const root = await inTurn(() => openFolder(folder));
  try {
    const { gid, mode } = await inTurn(() => root.stat());
    if (request.onRootMismatch && gid === request.gid && (mode & folderBits) === folderBits) return undefined;
    await changeBelow(root, request, refusals, 0);
    await inTurn(async () => {
      await refusals.noted(mounter.changeOwner(folder, { gid: request.gid }));
      await addMode(root, folderBits, refusals);
    });
    return refusals.first;
  } finally {
    await root.close();
  }
}

async function changeBelow(folder: FileHandle, request: FsGroupRequest, refusals: Refusals, depth: number): Promise<void> {
  if (depth >= deepest) throw new Error(`the folders of the volume are deeper than ${deepest}`);
  const { inTurn, signal } = request;
  const path = bytesIn(folder, Buffer.from('.'));
  const entries = await inTurn(() => opendir(path, { encoding: 'buffer' as BufferEncoding }));
  try {
    for (let entry = await inTurn(() => entries.read()); entry !== null; entry = await inTurn(() => entries.read())) {
      signal.throwIfAborted();
      // it is gone meanwhile
      await changeEntry(folder, entry.name as unknown as Buffer, request, refusals, depth).catch(ifCode('ENOENT'));
    }
  } finally {
    await entries.close();
  }
}

async function changeEntry(
  folder: FileHandle,
  name: Buffer,
  request: FsGroupRequest,
  refusals: Refusals,
  depth: number,
): Promise<void> {
  const { mounter, gid, inTurn } = request;
  const path = bytesIn(folder, name);
  const entry = await inTurn(() => openNoFollow(path));
  try {
    const stats = await inTurn(() => entry.stat());
    if (stats.isDirectory()) await changeBelow(entry, request, refusals, depth + 1);
    await inTurn(async () => {
      // a name that is no text keeps its group
      if (isUtf8(name)) await refusals.noted(mounter.changeOwner(path.toString(), { gid }));
      if (!stats.isSymbolicLink()) await addMode(entry, stats.isDirectory() ? folderBits : fileBits, refusals);
    });
  } finally {
    await entry.close();
  }
}

async function addMode(handle: FileHandle, bits: number, refusals: Refusals): Promise<void> {
  const { mode } = await handle.stat();
  if ((mode & bits) === bits) return;
  // a handle that cannot read refuses fchmod(2)
  await refusals.noted(chmod(`/proc/self/fd/${handle.fd}`, (mode & 0o7777) | bits));
}
