import { lstat, opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifCode } from '../../base/errors.ts';

/** A socket of a plugin. */
export interface PluginSocket {
  readonly path: string;
  /** Another one for a socket that was made anew at the same path. */
  readonly identity: string;
}

/** The longest path of a unix socket that Linux takes, in bytes. */
const longestSocketPath = 107;
/** So many files and folders are looked at. */
const mostEntries = 2000;
/** So deep below the folder are sockets looked for. */
const deepest = 4;

export function isSocketPath(path: string): boolean {
  return path.startsWith('/') && !path.includes('\0') && Buffer.byteLength(path) <= longestSocketPath;
}

/**
 * The sockets in a folder and the folders below it, in the order of their paths. Names that begin with a dot are left out, and so is a
 * symbolic link that leads to anything but a socket. Rejects where a folder cannot be read, and where there is too much in them.
 */
export async function findSockets(folder: string): Promise<readonly PluginSocket[]> {
  const found: PluginSocket[] = [];
  const left = [{ path: folder, depth: 0 }];
  let seen = 0;
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { path: parent, depth } = next;
    const entries = await opendir(parent).catch(ifCode('ENOENT', 'ENOTDIR'));
    if (entries === undefined) continue;
    for await (const { name } of entries) {
      seen += 1;
      if (seen > mostEntries) throw new Error(`${folder} has more than ${mostEntries} files and folders`);
      if (name.startsWith('.')) continue;
      const path = join(parent, name);
      const own = await lstat(path).catch(ifCode('ENOENT'));
      if (own?.isDirectory() && depth < deepest) left.push({ path, depth: depth + 1 });
      const socket = own && (await socketAt(path, own.isSymbolicLink()));
      if (socket !== undefined) found.push(socket);
    }
  }
  return found.sort((one, other) => (one.path < other.path ? -1 : 1));
}

async function socketAt(path: string, isLink: boolean): Promise<PluginSocket | undefined> {
  const stats = await (isLink ? stat : lstat)(path, { bigint: true }).catch(ifCode('ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'));
  if (stats === undefined || !stats.isSocket()) return undefined;
  return { path, identity: `${stats.dev}:${stats.ino}:${stats.birthtimeNs}` };
}
