import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { isExecutable, userCache } from './user-cache.ts';

const run = promisify(execFile);

/**
 * The path of promtool, Prometheus' own checker of rules and metrics: PSM_PROMTOOL, else the one in PATH, else the one of Debian's
 * package, which is unpacked into the user's cache in a few seconds, and installed nowhere. Rejects, and says what to do, where
 * none of these is to be had.
 */
export async function promtool(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const named = env.PSM_PROMTOOL;
  if (named) return named;
  for (const dir of (env.PATH ?? '').split(delimiter))
    if (await isExecutable(join(dir, 'promtool'))) return join(dir, 'promtool');
  const cache = userCache(env);
  const cached = join(cache, 'prometheus', 'usr', 'bin', 'promtool');
  if (await isExecutable(cached)) return cached;
  try {
    await unpackDebianPackage(cache);
  } catch (cause) {
    const how = 'Install Prometheus (Debian: apt-get install prometheus; macOS: brew install prometheus), or set PSM_PROMTOOL';
    throw new Error(`promtool is not to be had. ${how}.`, { cause });
  }
  return cached;
}

async function unpackDebianPackage(cache: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const dir = await mkdtemp(join(cache, 'prometheus-'));
  try {
    const download = (): Promise<unknown> => run('apt-get', ['download', 'prometheus'], { cwd: dir });
    // a fresh container has no lists of packages
    await download().catch(() => run('apt-get', ['update']).then(download));
    const file = (await readdir(dir)).find((name) => name.endsWith('.deb'));
    if (file === undefined) throw new Error('apt-get has downloaded no package');
    await run('dpkg-deb', ['-x', join(dir, file), join(dir, 'unpacked')]);
    await rename(join(dir, 'unpacked'), join(cache, 'prometheus')).catch(() => {
      // another process was first
    });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
