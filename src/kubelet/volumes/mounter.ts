import { lchown, lstat, open, readdir, readFile, realpath, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorText, ifCode } from '../../base/errors.ts';
import type { OwnerChanger, Ownership } from '../../node/files/atomic-writer.ts';
import { SmallShell } from './small-shell.ts';

/** How a path is shown at another one. */
export interface BindOptions {
  /** True: nothing can be written through the new path. */
  readonly readonly?: boolean;
}

/** A file system in memory. */
export interface TmpfsSettings {
  /** The most that fits in, in bytes. Default: as much as the kernel allows. */
  readonly sizeBytes?: number | undefined;
  /** The mode of its root. Default: `0o1777`, the kernel's own. */
  readonly mode?: number | undefined;
  /** The numeric group of its root. Default: that of the agent. */
  readonly gid?: number | undefined;
}

/** What is mounted, and how. */
export interface FileSystemSettings {
  /** The type of the file system, such as `nfs`. Default: `source` is a file or folder that is shown at another path, too. */
  readonly type?: string | undefined;
  /** Options of `mount`, such as `ro` and `nosuid`, one each. Default: none. */
  readonly options?: readonly string[] | undefined;
  /** The call is given up after so many milliseconds. Default: 60,000. */
  readonly timeoutMs?: number | undefined;
}

/**
 * What an agent needs a privileged user for: mounts, and the owners of files. Each method rejects with an error that names the
 * path; a mount that is there already, or gone, is no error.
 */
export interface Mounter extends OwnerChanger {
  /** Mounts a file system in memory. Its mode and its group are there as soon as it is. */
  mountTmpfs(target: string, options: TmpfsSettings, signal?: AbortSignal): Promise<void>;
  /** True: a file system in memory is mounted at `target`. */
  isTmpfs(target: string): Promise<boolean>;
  /** Shows the file or folder `source` at `target`, which must exist. Only what is in `/proc/PID/fd` is followed as a link. */
  bind(source: string, target: string, options: BindOptions, signal?: AbortSignal): Promise<void>;
  /** Mounts `source` at the folder `target`, which must exist. One mount more comes over what is mounted there. */
  mount(source: string, target: string, settings: FileSystemSettings, signal?: AbortSignal): Promise<void>;
  /**
   * Makes a file system of this type on the block device, where the device is empty, and checks and repairs the one that is there. Only zeros
   * at its start and its end are empty: it rejects for a device with anything else that is no file system. Where nobody is to write, it
   * rejects for an empty one and repairs nothing.
   */
  prepareFileSystem(device: string, type: string, settings: BindOptions, signal?: AbortSignal): Promise<void>;
  /** Ends the sharing of what is mounted at `target` and below: what is unmounted there then stays mounted everywhere else. */
  isolate(target: string): Promise<void>;
  /** Keeps the block device at `path` open, also when this process ends, so that no other device gets its number. Done again, it changes nothing. */
  holdDevice(path: string): Promise<void>;
  /** Ends what `holdDevice` has begun for this path, also in an earlier process. Nothing to end is no error. */
  releaseDevice(path: string): Promise<void>;
  /** Ends the topmost mount at `target`; lazily, where it is busy. */
  unmount(target: string, signal?: AbortSignal): Promise<void>;
  /** The mount points at and below `folder`, the deepest first; one that is mounted twice stands there twice. */
  mountsBelow(folder: string): Promise<readonly string[]>;
}

const tmpfsMagic = 0x01021994;

/** A call of `mount` or `umount` that takes longer is killed. */
const callLimitMs = 60_000;

const formatLimitMs = 600_000;

const mountInfoPath = '/proc/self/mountinfo';

/**
 * Makes mounts by `mount` and `umount` of util-linux, and holds devices by its `losetup`, makes and checks file systems by `mkfs` and `fsck`. It needs the rights of root, these programs in a
 * folder of `PATH`, and `/bin/sh`, which starts them.
 *
 * @example
 * ```ts
 * import { LinuxMounter } from 'pod-status-manager/kubelet';
 *
 * const mounter = new LinuxMounter();
 * console.log(Array.isArray(await mounter.mountsBelow('/proc'))); // true
 * ```
 */
export class LinuxMounter implements Mounter {
  readonly #shell = new SmallShell();

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
    await this.#call('mount', ['-t', 'tmpfs', ...given, 'tmpfs', target], target, signal);
  }

  async isTmpfs(target: string): Promise<boolean> {
    const own = await lstat(target).catch(ifCode('ENOENT', 'ENOTDIR'));
    if (own === undefined || !own.isDirectory()) return false;
    const above = await stat(dirname(target));
    return own.dev !== above.dev && (await statfs(target)).type === tmpfsMagic;
  }

  async bind(source: string, target: string, { readonly }: BindOptions, signal?: AbortSignal): Promise<void> {
    await this.#call('mount', ['--no-canonicalize', '--bind', source, target], target, signal);
    if (!readonly) return;
    try {
      await this.#call('mount', ['--no-canonicalize', '-o', 'remount,bind,ro', target], target, signal);
    } catch (error) {
      await this.unmount(target);
      throw error;
    }
  }

  async mount(source: string, target: string, settings: FileSystemSettings, signal?: AbortSignal): Promise<void> {
    const { type, options = [], timeoutMs = callLimitMs } = settings;
    const all = type === undefined ? ['bind', ...options] : options;
    // "--" ends the options: a source may begin with a hyphen
    const args = [
      ...(type === undefined ? [] : ['-t', type]),
      ...(all.length === 0 ? [] : ['-o', all.join()]),
      '--',
      source,
      target,
    ];
    await this.#call('mount', ['--no-canonicalize', ...args], target, signal, timeoutMs);
  }

  async prepareFileSystem(device: string, type: string, { readonly }: BindOptions, signal?: AbortSignal): Promise<void> {
    if (!/^[a-z0-9]+$/.test(type)) throw new Error(`${JSON.stringify(type)} is no type of a file system`);
    if (await isEmptyDevice(device)) {
      if (readonly) throw new Error(`${device} has no file system, and nobody is to write to it`);
      const quick = type === 'ext3' || type === 'ext4' ? ['-F', '-m0'] : type === 'xfs' ? ['-f'] : [];
      // what is half made cannot be mounted
      await this.#call(`mkfs.${type}`, [...quick, device], device, undefined, formatLimitMs);
    } else if (!readonly) {
      // 1: errors were corrected
      const check = ['-c', 'fsck -a "$1"; code=$?; test "$code" -le 1 || test "$code" = 8', 'sh', device];
      await this.#call('sh', check, device, signal, formatLimitMs);
    }
  }

  async isolate(target: string): Promise<void> {
    await this.#call('mount', ['--no-canonicalize', '--make-rprivate', target], target);
  }

  async holdDevice(path: string): Promise<void> {
    if ((await loopDevicesOf(path)).length === 0) await this.#call('losetup', ['--find', path], path);
  }

  async releaseDevice(path: string): Promise<void> {
    for (const device of await loopDevicesOf(path)) await this.#call('losetup', ['--detach', device], path);
  }

  async unmount(target: string, signal?: AbortSignal): Promise<void> {
    try {
      await this.#call('umount', ['--no-canonicalize', target], target, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(await this.#isMountPoint(target))) return;
      await this.#call('umount', ['--no-canonicalize', '--lazy', target], target, signal).catch((second: unknown) => {
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

  async #call(
    command: string,
    args: readonly string[],
    target: string,
    signal?: AbortSignal,
    timeoutMs: number = callLimitMs,
  ): Promise<void> {
    try {
      await this.#shell.run(command, args, { timeoutMs, signal });
    } catch (error) {
      signal?.throwIfAborted();
      throw new Error(`${command} of ${target} failed: ${errorText(error)}`, { cause: error });
    }
  }

  async #isMountPoint(target: string): Promise<boolean> {
    return parseMountInfo(await readFile(mountInfoPath, 'utf8')).some(({ path }) => path === target);
  }
}

/** True where the kernel may write memory to a swap device, and knows how to keep a file system from it (from 6.4 on). */
async function swaps(): Promise<boolean> {
  const devices = await readFile('/proc/swaps', 'utf8').catch(() => '');
  if (devices.trim().split('\n').length < 2) return false;
  const [major = 0, minor = 0] = (await readFile('/proc/sys/kernel/osrelease', 'utf8').catch(() => '0')).split('.').map(Number);
  return major > 6 || (major === 6 && minor >= 4);
}

const blockDevices = '/sys/block';

/** The devices that show this file, as the kernel knows it by this path, as a disk. */
async function loopDevicesOf(path: string): Promise<readonly string[]> {
  const names = (await readdir(blockDevices)).filter((name) => name.startsWith('loop'));
  const found: string[] = [];
  for (const name of names) {
    const file = await readFile(join(blockDevices, name, 'loop/backing_file'), 'utf8').catch(ifCode('ENOENT', 'ENXIO'));
    if (file?.trimEnd().replace(/ ?\(deleted\)$/, '') === path) found.push(join('/dev', name));
  }
  return found;
}

const edgeBytes = 1024 * 1024;

/** True where the first and the last MiB have zeros alone: all file systems, partitions and the like have a mark there. */
async function isEmptyDevice(device: string): Promise<boolean> {
  const handle = await open(device, 'r');
  try {
    const { size } = await handle.stat();
    const bytes = size > 0 ? size : await deviceBytes(device);
    for (const position of new Set([0, Math.max(0, bytes - edgeBytes)])) {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(edgeBytes), 0, edgeBytes, position);
      if (bytesRead === 0 || buffer.subarray(0, bytesRead).some((byte) => byte !== 0)) return false;
    }
    return true;
  } finally {
    await handle.close();
  }
}

/** The kernel tells it in sectors of 512 bytes. */
async function deviceBytes(device: string): Promise<number> {
  const { rdev } = await stat(device);
  const [major, minor] = [(rdev >> 8) & 0xfff, (rdev & 0xff) | ((rdev >> 12) & 0xfff00)];
  return Number(await readFile(`/sys/dev/block/${major}:${minor}/size`, 'utf8')) * 512;
}

/** One line of `/proc/self/mountinfo`. */
export interface MountPoint {
  /** The absolute path. */
  readonly path: string;
  /** The type of the file system, such as `tmpfs`. */
  readonly type: string;
  /** The number of the file system, such as `8:1`: the same wherever it is mounted. */
  readonly device: string;
  /** The device, the server with its path, or whatever the type of file system has as its source. */
  readonly source: string;
}

/** The mount points that the text of `/proc/self/mountinfo` lists, in its order. A line that cannot be read is an error. */
export function parseMountInfo(text: string): readonly MountPoint[] {
  const points: MountPoint[] = [];
  for (const line of text.split('\n')) {
    if (line !== '') points.push(mountPointOf(line));
  }
  return points;
}

function mountPointOf(line: string): MountPoint {
  const fields = line.split(' ');
  const path = fields[4];
  // a varying number of optional fields ends with a hyphen
  const end = fields.indexOf('-', 6);
  const [type, source = ''] = end < 0 ? [] : fields.slice(end + 1);
  const device = fields[2];
  if (path === undefined || device === undefined || type === undefined || !path.startsWith('/'))
    throw new Error('a line of mountinfo cannot be read');
  return { path: unescaped(path), type: unescaped(type), device, source: unescaped(source) };
}

/** The kernel writes blanks, line ends and backslashes as three octal digits. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** The mount points at and below `folder`, the deepest first, and of one path the topmost first. */
export function pointsBelow(points: readonly MountPoint[], folder: string): readonly string[] {
  const prefix = folder === '/' ? '/' : `${folder}/`;
  const paths = points.map(({ path }) => path).filter((path) => path === folder || path.startsWith(prefix));
  const depth = (path: string): number => path.split('/').length;
  return paths.reverse().sort((a, b) => depth(b) - depth(a));
}
