import { execFile } from 'node:child_process';
import { lchown, lstat, readFile, realpath, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { errorText, ifCode } from '../../base/errors.ts';
import { parseMountInfo, pointsBelow } from './mount-info.ts';
import type { BindOptions, Mounter, Ownership, TmpfsSettings } from './mounter.ts';

const run = promisify(execFile);

const tmpfsMagic = 0x01021994;
/** A call of `mount` or `umount` that takes longer is killed. */
const timeoutMs = 60_000;
const mountInfoPath = '/proc/self/mountinfo';

/**
 * Makes mounts by `mount` and `umount` of util-linux, which it starts without a shell. It needs the rights of root, and both
 * programs in a folder of `PATH`.
 *
 * @example
 * ```ts
 * import { LinuxMounter } from 'pod-status-manager/node';
 *
 * const mounter = new LinuxMounter();
 * console.log(Array.isArray(await mounter.mountsBelow('/proc'))); // true
 * ```
 */
export class LinuxMounter implements Mounter {
  async mountTmpfs(target: string, { sizeBytes, mode, gid }: TmpfsSettings, signal?: AbortSignal): Promise<void> {
    if (await this.isTmpfs(target)) return;
    const options = [
      ...(sizeBytes === undefined ? [] : [`size=${sizeBytes}`]),
      ...(mode === undefined ? [] : [`mode=${mode.toString(8)}`]),
      ...(gid === undefined ? [] : [`gid=${gid}`]),
      // what is in memory may be secret
      ...((await swaps()) ? ['noswap'] : []),
    ];
    const given = options.length === 0 ? [] : ['-o', options.join()];
    await call('mount', ['-t', 'tmpfs', ...given, 'tmpfs', target], target, signal);
  }

  async isTmpfs(target: string): Promise<boolean> {
    const own = await lstat(target).catch(ifCode('ENOENT', 'ENOTDIR'));
    if (own === undefined || !own.isDirectory()) return false;
    const above = await stat(dirname(target));
    return own.dev !== above.dev && (await statfs(target)).type === tmpfsMagic;
  }

  async bind(source: string, target: string, { readonly }: BindOptions, signal?: AbortSignal): Promise<void> {
    await call('mount', ['--no-canonicalize', '--bind', source, target], target, signal);
    if (!readonly) return;
    try {
      await call('mount', ['--no-canonicalize', '-o', 'remount,bind,ro', target], target, signal);
    } catch (error) {
      await this.unmount(target);
      throw error;
    }
  }

  async unmount(target: string, signal?: AbortSignal): Promise<void> {
    try {
      await call('umount', ['--no-canonicalize', target], target, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(await this.#isMountPoint(target))) return;
      await call('umount', ['--no-canonicalize', '--lazy', target], target, signal).catch((second: unknown) => {
        throw new AggregateError([error, second], `${target} cannot be unmounted`);
      });
    }
  }

  async mountsBelow(folder: string): Promise<readonly string[]> {
    const path = await realpath(folder).catch(ifCode('ENOENT', 'ENOTDIR'));
    return path === undefined ? [] : pointsBelow(parseMountInfo(await readFile(mountInfoPath, 'utf8')), path);
  }

  async changeOwner(path: string, { uid = -1, gid = -1 }: Ownership): Promise<void> {
    await lchown(path, uid, gid);
  }

  async #isMountPoint(target: string): Promise<boolean> {
    return parseMountInfo(await readFile(mountInfoPath, 'utf8')).some(({ path }) => path === target);
  }
}

async function call(command: string, args: readonly string[], target: string, signal?: AbortSignal): Promise<void> {
  // Node.js starts a process also for a signal that has aborted, and kills it a little later
  signal?.throwIfAborted();
  try {
    const env = { ...process.env, LC_ALL: 'C' };
    await run(command, args, { timeout: timeoutMs, killSignal: 'SIGKILL', env, ...(signal !== undefined && { signal }) });
  } catch (error) {
    signal?.throwIfAborted();
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new Error(`${command} of ${target} failed: ${said === '' ? errorText(error) : said}`, { cause: error });
  }
}

/** True where the kernel may write memory to a swap device, and knows how to keep a file system from it (from 6.4 on). */
async function swaps(): Promise<boolean> {
  const devices = await readFile('/proc/swaps', 'utf8').catch(() => '');
  if (devices.trim().split('\n').length < 2) return false;
  const [major = 0, minor = 0] = (await readFile('/proc/sys/kernel/osrelease', 'utf8').catch(() => '0')).split('.').map(Number);
  return major > 6 || (major === 6 && minor >= 4);
}
