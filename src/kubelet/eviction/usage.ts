import type { Dir, Stats } from 'node:fs';
import { type FileHandle, lstat, opendir } from 'node:fs/promises';
import { bytesIn, openFolder } from '../files/opened-folder.ts';

/** What there is of something that can run out, in bytes or in pieces. */
export interface Supply {
  readonly available: number;
  readonly capacity: number;
}

/** What the node has. What is absent is not known, and nothing follows from it. */
export interface NodeUsage {
  readonly memory?: Supply | undefined;
  /** Of what all pods together may have. */
  readonly podsMemory?: Supply | undefined;
  /** The file system of the agent's root directory and of logs. */
  readonly nodefs?: Supply | undefined;
  readonly nodefsInodes?: Supply | undefined;
  /** The file system of images and of what containers write. */
  readonly imagefs?: Supply | undefined;
  readonly imagefsInodes?: Supply | undefined;
  readonly pids?: Supply | undefined;
  /** True: images lie on another file system than the root directory. */
  readonly hasDedicatedImagefs: boolean;
}

/** What one container takes. */
export interface ContainerUsage {
  /** In bytes. */
  readonly memory?: number | undefined;
  /** What it has written into its own file system. */
  readonly rootfs?: TreeSize | undefined;
  readonly logs?: TreeSize | undefined;
}

/** What a pod's own files take on the node's disk. What is absent was not counted yet. */
export interface PodFiles {
  /** Volumes on the node's disk: emptyDir that is not memory, and configMap; by name. */
  readonly volumes: Readonly<Record<string, TreeSize>>;
  /** Of volumes in memory, by name; they have a size limit like the others. */
  readonly memoryVolumes: Readonly<Record<string, TreeSize>>;
  /** By the container's name. */
  readonly logs: Readonly<Record<string, TreeSize>>;
  /** Files that the agent has made for the pod and that its containers can write: the hosts file, termination messages. */
  readonly others: TreeSize;
}

/** What one pod takes. */
export interface PodUsage extends Omit<PodFiles, 'logs'> {
  /** Memory that cannot be taken back, in bytes. */
  readonly memory?: number | undefined;
  readonly processes?: number | undefined;
  /** By the container's name. */
  readonly containers: Readonly<Record<string, ContainerUsage>>;
}

export function ephemeralStorageOf(usage: PodUsage): TreeSize {
  return added(ownLayersOf(usage), nodeFilesOf(usage));
}

/** What its containers have on one of the two file systems, volumes and logs with the node's. */
export function diskUsageOf(usage: PodUsage, disk: 'nodefs' | 'imagefs' | 'both'): TreeSize {
  if (disk === 'both') return ephemeralStorageOf(usage);
  return disk === 'imagefs' ? ownLayersOf(usage) : nodeFilesOf(usage);
}

function ownLayersOf({ containers }: PodUsage): TreeSize {
  return sumOf(Object.values(containers).map(({ rootfs }) => rootfs));
}

function nodeFilesOf({ containers, volumes, others }: PodUsage): TreeSize {
  return sumOf([...Object.values(containers).map(({ logs }) => logs), ...Object.values(volumes), others]);
}

function sumOf(sizes: readonly (TreeSize | undefined)[]): TreeSize {
  return sizes.reduce<TreeSize>((sum, size) => added(sum, size ?? nothing), nothing);
}

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
 * Counts what lies below a path on its own file system, as `du` does: sparse parts not, files with several names once, symbolic links
 * not followed, also not those that are put in place meanwhile. What is not there, or goes meanwhile, counts nothing. It yields what
 * it has counted so far again and again and returns the sum. It holds no more than one folder a level; a tree that is deeper than
 * 250 folders counts as endless, since nobody could say what is in it. Rejects with the signal's reason.
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
