import { readFile, realpath } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { parseMountInfo } from '../volumes/mounter.ts';

/** What hangs with a folder. */
export interface FileSystemOfFolder {
  /** The same for all folders of one file system that are known to be in it. */
  readonly key: string;
  /** The same for all file systems of one server, one device, or else of one type. */
  readonly group: string;
}

/**
 * Which file system a folder is in, by what the kernel says of mounts: nothing in the file system is touched. A folder that is no mount point may lead
 * elsewhere by a symbolic link, and counts as a file system of its own. `rootDirectory` may be behind symbolic links; it is the agent's own.
 */
export async function fileSystemOf(given: string, rootDirectory = '/'): Promise<FileSystemOfFolder> {
  const way = relative(rootDirectory, given);
  const folder = way.startsWith('..') ? resolve(given) : join(await realpath(rootDirectory), way);
  // of one path the last one is the topmost
  const mounts = parseMountInfo(await readFile('/proc/self/mountinfo', 'utf8'));
  const mount = mounts.findLast(({ path }) => path === folder);
  if (mount !== undefined) return { key: mount.device, group: groupOf(mount.type, mount.source) };
  const holder = mounts.reduce(
    (found, { path, device }) => {
      const isIn = path === '/' || folder.startsWith(`${path}/`);
      return isIn && path.length >= found.path.length ? { path, device } : found;
    },
    { path: '', device: '' },
  );
  const key = `${holder.device} ${folder}`;
  return { key, group: key };
}

/** A source is `server:/path`, `//server/path`, a device, or whatever a driver has said. */
function groupOf(type: string, source: string): string {
  const server = /^(?:\/\/([^/]+)\/|(.+):\/)/.exec(source);
  return `${type} ${server?.[1] ?? server?.[2] ?? source}`;
}
