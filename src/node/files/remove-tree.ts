import { readFileSync } from 'node:fs';
import { type FileHandle, opendir, rmdir, unlink } from 'node:fs/promises';
import { errorCodeOf, ifCode } from '../../base/errors.ts';
import { bytesIn, openFolder } from './opened-folder.ts';

interface Level {
  readonly name: Buffer;
  readonly parent: { readonly dev: number; readonly ino: number };
}

/**
 * Removes a file or a folder with all that is in it. It follows no symbolic link, removes nothing of another mount below
 * (it rejects then), and takes names and depths of any kind. What is gone already is no error.
 */
export async function removeTree(path: string): Promise<void> {
  let root: FileHandle;
  try {
    root = await openFolder(path);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return;
    if (errorCodeOf(error) !== 'ENOTDIR') throw error;
    await unlink(path).catch(ifCode('ENOENT'));
    return;
  }
  await emptyTree(root, path);
  await rmdir(path).catch(ifCode('ENOENT'));
}

/** Removes all that is in the folder, and closes its handle. At most two folders are open at once. */
export async function emptyTree(root: FileHandle, path: string): Promise<void> {
  const levels: Level[] = [];
  let current = root;
  try {
    const mountID = mountIDOf(root);
    for (;;) {
      const below = await removeFiles(current);
      if (below !== undefined) {
        const { dev, ino } = await current.stat();
        const child = await openFolder(bytesIn(current, below)).catch(ifCode('ENOENT'));
        if (child === undefined) continue;
        await current.close();
        current = child;
        if (mountIDOf(child) !== mountID) throw new Error(`something is mounted below ${path}`);
        levels.push({ name: below, parent: { dev, ino } });
        continue;
      }
      const level = levels.pop();
      if (level === undefined) return;
      const parent = await openFolder(bytesIn(current, Buffer.from('..')));
      await current.close();
      current = parent;
      const { dev, ino } = await parent.stat();
      if (dev !== level.parent.dev || ino !== level.parent.ino) throw new Error(`a folder below ${path} was moved meanwhile`);
      await rmdir(bytesIn(parent, level.name)).catch(ifCode('ENOENT'));
    }
  } finally {
    await current.close();
  }
}

/** Removes a folder that is empty. What is mounted is busy to the kernel, even where it is empty. */
async function isRemoved(folder: Buffer): Promise<boolean> {
  try {
    await rmdir(folder);
    return true;
  } catch (error) {
    // what else is in the way shows when the folder is opened
    return errorCodeOf(error) === 'ENOENT';
  }
}

/** Removes files and empty folders. Resolves with the name of the first other folder that it meets; undefined: nothing is left. */
async function removeFiles(folder: FileHandle): Promise<Buffer | undefined> {
  // names may be no valid text
  const entries = await opendir(bytesIn(folder, Buffer.from('.')), { encoding: 'buffer' as BufferEncoding });
  for await (const entry of entries) {
    const name = entry.name as unknown as Buffer;
    if (entry.isDirectory()) {
      if (await isRemoved(bytesIn(folder, name))) continue;
      return name;
    }
    try {
      await unlink(bytesIn(folder, name));
    } catch (error) {
      // a file system that does not tell types
      if (errorCodeOf(error) === 'EISDIR') return name;
      if (errorCodeOf(error) !== 'ENOENT') throw error;
    }
  }
  return undefined;
}

/**
 * The kernel's number of the mount that the folder belongs to: a bind of the same file system has another one. The kernel has it in
 * memory and asks no disk: to read it takes less than to hand it to a thread.
 */
function mountIDOf(folder: FileHandle): string {
  const info = readFileSync(`/proc/self/fdinfo/${folder.fd}`, 'utf8');
  const [, id] = /^mnt_id:\s*(\d+)$/m.exec(info) ?? [];
  if (id === undefined) throw new Error('the kernel does not tell the mount of a folder');
  return id;
}
