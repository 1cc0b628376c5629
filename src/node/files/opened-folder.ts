// Node.js has no openat(2). `/proc/self/fd/N/NAME` does the same: it begins at the opened folder N, wherever somebody has
// moved it or whatever now stands at its path.

import { constants } from 'node:fs';
import { chmod, type FileHandle, mkdir, open, readlink } from 'node:fs/promises';
import { errorCodeOf } from '../../base/errors.ts';

const { O_NOFOLLOW, O_DIRECTORY, O_RDONLY, O_NONBLOCK } = constants;
/** The same on every architecture that Node.js runs on with Linux. */
const O_PATH = 0o10000000;
/** So many steps a way may have, those of symbolic links included. */
const mostSteps = 255;

/** A path that begins at an opened folder. */
function pathIn(folder: FileHandle, name: string): string {
  return `/proc/self/fd/${folder.fd}/${name}`;
}

/** As {@link pathIn}, for a name that may be no valid text. */
export function bytesIn(folder: FileHandle, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${folder.fd}/`), name]);
}

/** Opens a folder, without reading it. Its last part may be no symbolic link (ENOTDIR). */
export function openFolder(path: string | Buffer): Promise<FileHandle> {
  return open(path, O_PATH | O_NOFOLLOW | O_DIRECTORY);
}

/** Opens whatever is at the path, a symbolic link itself too, without reading it. */
export function openNoFollow(path: string | Buffer): Promise<FileHandle> {
  return open(path, O_PATH | O_NOFOLLOW);
}

/** Opens a file, a folder or anything else, without reading it. A symbolic link is an error. */
async function openAny(path: string): Promise<FileHandle> {
  const handle = await openNoFollow(path);
  return closedOnFailure(handle, async () => {
    if ((await handle.stat()).isSymbolicLink()) throw new Error('there is a symbolic link where none may be');
  });
}

/** Closes what was opened where what has to be done with it fails. */
async function closedOnFailure(handle: FileHandle, act: () => Promise<void>): Promise<FileHandle> {
  try {
    await act();
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Opens what the names lead to from `base`, one step after another, following no symbolic link. What a pod changes meanwhile
 * leads nowhere else. The caller closes the handle.
 */
export async function openBelow(base: string, names: readonly string[]): Promise<FileHandle> {
  let handle = await openFolder(base);
  for (const [index, name] of names.entries()) {
    const parent = handle;
    try {
      requireName(name);
      handle = await (index === names.length - 1 ? openAny : openFolder)(pathIn(parent, name));
    } finally {
      await parent.close();
    }
  }
  return handle;
}

/**
 * Opens what a path leads to for somebody to whom `base` is the root of all files, without reading it: a symbolic link is followed,
 * and leads nowhere else, whatever it says. The caller closes the handle.
 */
export async function openInside(base: string, path: string): Promise<FileHandle> {
  const left = path.split('/', mostSteps + 1).reverse();
  const way: string[] = [];
  let handle = await openFolder(base);
  try {
    for (let steps = 1; left.length > 0; steps += 1) {
      if (left.length > mostSteps || steps > mostSteps) throw new Error('the path has too many parts');
      const name = left.pop() ?? '';
      if (name === '' || name === '.') continue;
      if (name === '..') {
        way.pop();
        handle = await inPlaceOf(handle, openBelow(base, way));
        continue;
      }
      const found = await openNoFollow(pathIn(handle, name));
      const link = await targetOf(found, pathIn(handle, name));
      if (link === undefined) {
        handle = await inPlaceOf(handle, found);
        way.push(name);
        continue;
      }
      left.push(...link.split('/', mostSteps + 1).reverse());
      if (!link.startsWith('/')) continue;
      way.length = 0;
      handle = await inPlaceOf(handle, openFolder(base));
    }
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** What a symbolic link says, which is closed then; undefined for anything else. */
async function targetOf(opened: FileHandle, path: string): Promise<string | undefined> {
  let isLink = false;
  await closedOnFailure(opened, async () => {
    isLink = (await opened.stat()).isSymbolicLink();
  });
  return isLink ? readlink(path).finally(() => opened.close()) : undefined;
}

async function inPlaceOf(before: FileHandle, next: Promise<FileHandle> | FileHandle): Promise<FileHandle> {
  const opened = await next;
  await before.close();
  return opened;
}

/** Opens what was opened without reading it once more, to read. A pipe keeps nobody waiting. */
export function openToRead(handle: FileHandle): Promise<FileHandle> {
  return open(`/proc/self/fd/${handle.fd}`, O_RDONLY | O_NONBLOCK);
}

/**
 * Makes the folders that the names lead to from the opened `base`, following no symbolic link, and opens the last one. Those
 * that it makes have the mode, whatever the umask is. The caller closes the handle; `base` is closed.
 */
export async function makeFoldersIn(base: FileHandle, names: readonly string[], mode: number): Promise<FileHandle> {
  let handle = base;
  for (const name of names) {
    const parent = handle;
    try {
      requireName(name);
      handle = await makeFolder(parent, name, mode);
    } finally {
      await parent.close();
    }
  }
  return handle;
}

async function makeFolder(parent: FileHandle, name: string, mode: number): Promise<FileHandle> {
  const path = pathIn(parent, name);
  const isNew = await mkdir(path, { mode: mode & 0o777 }).then(
    () => true,
    (error: unknown) => {
      if (errorCodeOf(error) === 'EEXIST') return false;
      throw error;
    },
  );
  const handle = await openFolder(path);
  return closedOnFailure(handle, async () => {
    if (isNew) await changeMode(handle, mode);
  });
}

/** Changes the mode of what was opened. */
async function changeMode(handle: FileHandle, mode: number): Promise<void> {
  // a handle that cannot read refuses fchmod(2)
  await chmod(`/proc/self/fd/${handle.fd}`, mode);
}

function requireName(name: string): void {
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) throw new Error('a part of the path is no plain name');
}
