import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The bytes that files below a path take on its own file system, as `du` counts them: sparse parts not, files with several names
 * once, symbolic links not followed. What is not there, or goes meanwhile, counts nothing. Rejects with the signal's reason.
 */
export async function treeSize(path: string, signal: AbortSignal): Promise<number> {
  const root = await lstat(path).catch(() => undefined);
  if (root === undefined) return 0;
  const seen = new Set<number>();
  const folders = root.isDirectory() ? [path] : [];
  let bytes = root.blocks * 512;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await opendir(folder).catch(() => undefined);
    if (entries === undefined) continue;
    for await (const { name } of entries) {
      signal.throwIfAborted();
      const child = join(folder, name);
      const stats = await lstat(child).catch(() => undefined);
      if (stats === undefined || stats.dev !== root.dev || seen.has(stats.ino)) continue;
      if (stats.nlink > 1 && !stats.isDirectory()) seen.add(stats.ino);
      bytes += stats.blocks * 512;
      if (stats.isDirectory()) folders.push(child);
    }
  }
  return bytes;
}
