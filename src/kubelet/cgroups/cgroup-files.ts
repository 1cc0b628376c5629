import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { errorCodeOf, ifCode } from '../../base/errors.ts';

/** The file system of the kernel's cgroups. What is said of a path holds for each path. */
export interface CgroupFiles {
  /** The text of a file; undefined where there is none. */
  read(path: string): Promise<string | undefined>;
  /** Writes a file that the kernel has made. Rejects with what the kernel says. */
  write(path: string, text: string): Promise<void>;
  /** Makes a folder whose parent is there. One that is there already is no error. */
  makeFolder(path: string): Promise<void>;
  /** Removes a folder that has no folders in it. One that is not there is no error. */
  removeFolder(path: string): Promise<void>;
  /** The names of the folders in a folder; undefined where there is none. */
  foldersIn(path: string): Promise<readonly string[] | undefined>;
  /** Ends a process at once. One that has ended is no error. */
  kill(pid: number): void;
}

/** The machine's own. */
export const kernelCgroupFiles: CgroupFiles = {
  read: (path) => orUndefined(readFile(path, 'utf8')),
  // no new file: a name that the kernel does not have is an error
  write: (path, text) => writeFile(path, text, { flag: 'r+' }),
  makeFolder: (path) => mkdir(path, 0o755).catch(ifCode('EEXIST')),
  removeFolder: (path) => rmdir(path).catch(ifCode('ENOENT')),
  foldersIn: async (path) => {
    const entries = await orUndefined(readdir(path, { withFileTypes: true }));
    return entries?.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  },
  kill: (pid) => {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if (errorCodeOf(error) !== 'ESRCH') throw error;
    }
  },
};

async function orUndefined<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    const code = errorCodeOf(error);
    // a group can go while it is read
    if (code === 'ENOENT' || code === 'ENODEV' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
