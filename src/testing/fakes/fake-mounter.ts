import { mkdir, readdir, realpath, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { BindOptions, FileSystemSettings, Mounter, TmpfsSettings } from '../../kubelet/volumes/mounter.ts';

type Owner = Parameters<Mounter['changeOwner']>[1];

/** A mount that a {@link FakeMounter} has. */
export interface FakeMount {
  /** Where it is. */
  readonly target: string;
  /** What is shown there, or the source of a file system; undefined for a file system in memory. */
  readonly source: string | undefined;
  /** How it was made. */
  readonly options: TmpfsSettings | BindOptions | FileSystemSettings;
}

/**
 * Keeps account of mounts and owners and makes none, so that volumes work without the rights of root. A file system in memory
 * is a plain folder, which is emptied when it is unmounted; a bind shows nothing.
 *
 * @example
 * ```ts
 * import { mkdtemp } from 'node:fs/promises';
 * import { FakeMounter } from 'pod-status-manager/testing';
 *
 * const folder = await mkdtemp('/tmp/fake-mounter-');
 * const mounter = new FakeMounter();
 * await mounter.mountTmpfs(folder, { sizeBytes: 1024 });
 * console.log(await mounter.isTmpfs(folder)); // true
 * ```
 */
export class FakeMounter implements Mounter {
  readonly #mounts: FakeMount[] = [];
  readonly #owners = new Map<string, Owner>();
  readonly #heldDevices = new Set<string>();

  /** The mounts, the oldest first. */
  get mounts(): readonly FakeMount[] {
    return [...this.#mounts];
  }

  /** Who owns the paths whose owner was changed. */
  get owners(): ReadonlyMap<string, Owner> {
    return this.#owners;
  }

  /** The paths of the devices that are kept open. */
  get heldDevices(): readonly string[] {
    return [...this.#heldDevices];
  }

  async mountTmpfs(target: string, options: TmpfsSettings, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (await this.isTmpfs(target)) return;
    await mkdir(target, { recursive: true });
    this.#mounts.push({ target: resolve(target), source: undefined, options });
  }

  async isTmpfs(target: string): Promise<boolean> {
    return this.#mounts.some((mount) => mount.source === undefined && mount.target === resolve(target));
  }

  async bind(source: string, target: string, options: BindOptions, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.#mounts.push({ target: resolve(target), source: await realpath(source), options });
  }

  async mount(source: string, target: string, settings: FileSystemSettings, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.#mounts.push({ target: resolve(target), source, options: settings });
  }

  async prepareFileSystem(_device: string, _type: string, _settings: BindOptions, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
  }

  async isolate(): Promise<void> {}

  async holdDevice(path: string): Promise<void> {
    this.#heldDevices.add(path);
  }

  async releaseDevice(path: string): Promise<void> {
    this.#heldDevices.delete(path);
  }

  async unmount(target: string, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const index = this.#mounts.findLastIndex((mount) => mount.target === resolve(target));
    const [ended] = index < 0 ? [] : this.#mounts.splice(index, 1);
    if (ended === undefined || ended.source !== undefined) return;
    for (const name of await readdir(target)) await rm(join(target, name), { recursive: true, force: true });
  }

  async mountsBelow(folder: string): Promise<readonly string[]> {
    const path = resolve(folder);
    const depth = (target: string): number => target.split('/').length;
    return this.#mounts
      .map(({ target }) => target)
      .filter((target) => target === path || target.startsWith(`${path}/`))
      .reverse()
      .sort((a, b) => depth(b) - depth(a));
  }

  async changeOwner(path: string, owner: Owner): Promise<void> {
    const parent = await realpath(resolve(path, '..'));
    const key = join(parent, path.slice(path.lastIndexOf('/') + 1));
    this.#owners.set(key, { ...this.#owners.get(key), ...owner });
  }
}
