import { lstatSync, mkdirSync } from 'node:fs';
import { lstat, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCodeOf, ifCode } from '../../base/errors.ts';

/** Makes a folder and those above it. One that is there is no error. Rejects with what the kernel says of the first one that is missing. */
export async function makeFolders(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode });
  } catch (error) {
    if (errorCodeOf(error) !== 'ENOENT') throw error;
    // Node.js says so of a file system that is read-only, too
    await mkdir(await firstMissing(path), { mode }).catch(ifCode('EEXIST'));
    await mkdir(path, { recursive: true, mode });
  }
}

/** The same at once, for what is read before anything else begins. */
export function makeFoldersSync(path: string, mode: number): void {
  try {
    mkdirSync(path, { recursive: true, mode });
  } catch (error) {
    if (errorCodeOf(error) !== 'ENOENT') throw error;
    mkdirSync(firstMissingSync(path), { mode });
    mkdirSync(path, { recursive: true, mode });
  }
}

async function firstMissing(path: string): Promise<string> {
  const parent = dirname(path);
  const isThere = await lstat(parent).then(
    () => true,
    () => false,
  );
  return isThere || parent === path ? path : firstMissing(parent);
}

function firstMissingSync(path: string): string {
  const parent = dirname(path);
  const isThere = lstatSync(parent, { throwIfNoEntry: false }) !== undefined;
  return isThere || parent === path ? path : firstMissingSync(parent);
}
