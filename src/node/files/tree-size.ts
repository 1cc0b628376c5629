import type { Dir, Stats } from 'node:fs';
import { type FileHandle, lstat, opendir } from 'node:fs/promises';
import { bytesIn, openFolder } from './opened-folder.ts';

/** What files take on a disk. */
export interface TreeSize {
  readonly bytes: number;
  readonly inodes: number;
}

export const nothing: TreeSize = { bytes: 0, inodes: 0 };

interface Level {
  readonly folder: FileHandle;
  readonly entries: Dir;
}

/** So many names are looked at between two answers. */
export const namesPerStep = 500;
/** Each open level takes two file descriptors. */
const mostLevels = 250;

/**
 * Counts what lies below a path on its own file system, as `du` does; yields what it has counted so far again and again, and
 * returns the sum.
 *
 * - Sparse parts do not count, a file with several names counts once, and what is not there, or goes meanwhile, counts nothing.
 * - A symbolic link is not followed, also not one that is put in place meanwhile.
 * - A tree that is deeper than 250 folders counts as endless, since no more than one folder a level is held open.
 * - Rejects with the signal's reason once `signal` has aborted.
 */
export async function* treeSize(path: string, signal: AbortSignal): AsyncGenerator<TreeSize, TreeSize, void> {
  const root = await levelOf(path);
  if (root === undefined) return sizeOf(await lstat(path).catch(none));
  const levels = [root];
  try {
    const stats = await root.folder.stat();
    let sum = sizeOf(stats);
    for (let names = 1, level = levels.at(-1); level !== undefined; names += 1, level = levels.at(-1)) {
      if (names % namesPerStep === 0) yield sum;
      signal.throwIfAborted();
      const name = (await level.entries.read().catch(none))?.name as unknown as Buffer | undefined;
      if (name === undefined) {
        await close(levels.pop());
        continue;
      }
      const child = await lstat(bytesIn(level.folder, name)).catch(none);
      if (child === undefined || child.dev !== stats.dev) continue;
      sum = added(sum, sizeOf(child));
      if (!child.isDirectory()) continue;
      if (levels.length === mostLevels) return { bytes: Number.POSITIVE_INFINITY, inodes: Number.POSITIVE_INFINITY };
      const below = await levelOf(bytesIn(level.folder, name));
      if (below !== undefined) levels.push(below);
    }
    return { bytes: Math.round(sum.bytes), inodes: Math.round(sum.inodes) };
  } finally {
    for (const level of levels) await close(level);
  }
}

const none = (): undefined => undefined;

/** Both together. */
export function added(one: TreeSize, other: TreeSize): TreeSize {
  return { bytes: one.bytes + other.bytes, inodes: one.inodes + other.inodes };
}

/** A file with several names in the tree counts once, without a list of those that were seen: each name has its share. */
function sizeOf(stats: Stats | undefined): TreeSize {
  if (stats === undefined) return nothing;
  const names = stats.isDirectory() ? 1 : Math.max(1, stats.nlink);
  return { bytes: (stats.blocks * 512) / names, inodes: 1 / names };
}

/** Opens a folder; undefined for what is none, or is gone. */
async function levelOf(path: string | Buffer): Promise<Level | undefined> {
  const folder = await openFolder(path).catch(none);
  if (folder === undefined) return undefined;
  // names may be no valid text
  const opened = opendir(bytesIn(folder, Buffer.from('.')), { encoding: 'buffer' as BufferEncoding });
  const entries = await opened.catch(none);
  if (entries !== undefined) return { folder, entries };
  await folder.close();
  return undefined;
}

async function close(level: Level | undefined): Promise<void> {
  await level?.entries.close().catch(none);
  await level?.folder.close().catch(none);
}
