// Behaviour of SetVolumeOwnership in pkg/volume/volume_linux.go, v1.36.3.

import { isUtf8 } from 'node:buffer';
import { chmod, type FileHandle, opendir } from 'node:fs/promises';
import { errorCodeOf, ifCode } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';
import { bytesIn, openFolder, openNoFollow } from '../../node/files/opened-folder.ts';
import type { Mounter } from './mounter.ts';

export interface FsGroupRequest {
  readonly mounter: Pick<Mounter, 'changeOwner'>;
  readonly folder: string;
  readonly gid: number;
  /** True: a volume whose root is right already is left as it is. */
  readonly onRootMismatch: boolean;
  readonly signal: AbortSignal;
  /** Makes a call in the volume when it is its turn. May reject while the call goes on; its signal aborts then. */
  readonly inTurn: <T>(call: (signal: AbortSignal) => Promise<T>) => Promise<T>;
}

interface Opened {
  close(): Promise<void>;
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

/** The calls in one volume, one after another. */
class Calls {
  readonly inTurn: FsGroupRequest['inTurn'];
  #last: Promise<unknown> = Promise.resolve();

  constructor({ inTurn }: FsGroupRequest) {
    this.inTurn = (call) =>
      inTurn((signal) => {
        const going = call(signal);
        this.#last = going.catch(ignoreFailure);
        return going;
      });
  }

  /** Closes it once no call goes on that may use it: paths of calls have its number, which another file gets later. Waits for nothing. */
  closeAfterLast(opened: Opened): void {
    void this.#last.then(() => opened.close()).catch(ignoreFailure);
  }
}

type Work = FsGroupRequest & { readonly calls: Calls };

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
  const { folder, mounter } = request;
  const calls = new Calls(request);
  const { inTurn } = calls;
  const refusals = new Refusals();
  return withOpened(
    calls,
    () => openFolder(folder),
    async (root) => {
      const { gid, mode } = await inTurn(() => root.stat());
      if (request.onRootMismatch && gid === request.gid && (mode & folderBits) === folderBits) return undefined;
      await changeBelow(root, { ...request, inTurn, calls }, refusals, 0);
      await inTurn(async () => {
        await refusals.noted(mounter.changeOwner(folder, { gid: request.gid }));
        await addMode(root, folderBits, refusals);
      });
      return refusals.first;
    },
  );
}

/**
 * Opens something in its turn, uses it and closes it. After a failure nobody waits for that: a call that hangs may have it still. What opens only
 * when nobody waits for it any more is closed.
 */
async function withOpened<H extends Opened, T>(calls: Calls, open: () => Promise<H>, use: (opened: H) => Promise<T>): Promise<T> {
  const opened = await calls.inTurn(async (signal) => {
    const late = await open();
    if (!signal.aborted) return late;
    void late.close().catch(ignoreFailure);
    throw signal.reason;
  });
  let result: T;
  try {
    result = await use(opened);
  } catch (error) {
    calls.closeAfterLast(opened);
    throw error;
  }
  await opened.close();
  return result;
}

async function changeBelow(folder: FileHandle, request: Work, refusals: Refusals, depth: number): Promise<void> {
  if (depth >= deepest) throw new Error(`the folders of the volume are deeper than ${deepest}`);
  const { inTurn, calls, signal } = request;
  const path = bytesIn(folder, Buffer.from('.'));
  const open = () => opendir(path, { encoding: 'buffer' as BufferEncoding });
  await withOpened(calls, open, async (entries) => {
    for (let entry = await inTurn(() => entries.read()); entry !== null; entry = await inTurn(() => entries.read())) {
      signal.throwIfAborted();
      // it is gone meanwhile
      await changeEntry(folder, entry.name as unknown as Buffer, request, refusals, depth).catch(ifCode('ENOENT'));
    }
  });
}

async function changeEntry(folder: FileHandle, name: Buffer, request: Work, refusals: Refusals, depth: number): Promise<void> {
  const { mounter, gid, inTurn, calls } = request;
  const path = bytesIn(folder, name);
  await withOpened(
    calls,
    () => openNoFollow(path),
    async (entry) => {
      const stats = await inTurn(() => entry.stat());
      if (stats.isDirectory()) await changeBelow(entry, request, refusals, depth + 1);
      await inTurn(async () => {
        // a name that is no text keeps its group
        if (isUtf8(name)) await refusals.noted(mounter.changeOwner(path.toString(), { gid }));
        if (!stats.isSymbolicLink()) await addMode(entry, stats.isDirectory() ? folderBits : fileBits, refusals);
      });
    },
  );
}

async function addMode(handle: FileHandle, bits: number, refusals: Refusals): Promise<void> {
  const { mode } = await handle.stat();
  if ((mode & bits) === bits) return;
  // a handle that cannot read refuses fchmod(2)
  await refusals.noted(chmod(`/proc/self/fd/${handle.fd}`, (mode & 0o7777) | bits));
}
