// Layout of pkg/volume/util/atomic_writer.go, v1.36.3, which programs that watch their config maps depend on.

import { createHash } from 'node:crypto';
import { lstat, mkdtemp, readdir, readlink, rename, symlink, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { formatTime } from '../../api/json/time.ts';
import type { Clock } from '../../base/clock.ts';
import { ifCode } from '../../base/errors.ts';
import type { Mounter } from './mounter.ts';
import type { ProjectedFiles } from './projected-files.ts';
import { projectedPath } from './projected-path.ts';
import { removeTree } from './remove-tree.ts';
import { hasContent, writeFiles } from './written-files.ts';

/** How files are written. */
export interface WriteOptions {
  /** The numeric group that owns what is written, and can read all of it. */
  readonly fsGroup?: number | undefined;
}

/** What a writer needs. */
export interface AtomicWriterOptions {
  /** Changes owners. */
  readonly mounter: Pick<Mounter, 'changeOwner'>;
  /** Gives the time that is in the names of folders. */
  readonly clock: Clock;
}

const dataName = '..data';
const newDataName = '..data_tmp';

/**
 * Keeps the files of one folder, so that a reader sees all of them as they were or all as they are now. Files are in a folder
 * with a name of its own, `..data` is a symbolic link to that folder, and what a user sees are symbolic links through `..data`.
 * One call at a time; what an interrupted call has left is removed by the next one.
 */
export class AtomicWriter {
  readonly #folder: string;
  readonly #mounter: Pick<Mounter, 'changeOwner'>;
  readonly #clock: Clock;
  /** What the last call has written, and where to. */
  #last: { readonly digest: string; readonly target: string } | undefined;

  constructor(folder: string, { mounter, clock }: AtomicWriterOptions) {
    this.#folder = folder;
    this.#mounter = mounter;
    this.#clock = clock;
  }

  /**
   * Writes the files in place of those that are there. Resolves with false where nothing had to be written. Rejects, with
   * nothing changed for readers, for a path that leads out of the folder or is the writer's own, and for what the file system refuses.
   */
  async write(files: ProjectedFiles, { fsGroup }: WriteOptions = {}): Promise<boolean> {
    const clean = new Map([...files].map(([path, file]) => [projectedPath(path).join('/'), file]));
    const digest = digestOf(clean, fsGroup);
    const target = await readlink(join(this.#folder, dataName)).catch(ifCode('ENOENT'));
    if (this.#last !== undefined && this.#last.digest === digest && this.#last.target === target) return false;
    const isWritten = target !== undefined && (await hasContent(join(this.#folder, target), clean));
    const current = isWritten ? target : await this.#publish(clean, fsGroup);
    await this.#link(clean, fsGroup);
    await this.#tidy(new Set([...clean.keys()].map(firstPart)), current);
    this.#last = { digest, target: current };
    return !isWritten;
  }

  /** Writes all files into a new folder, and puts it in the place of the old one. */
  async #publish(files: ProjectedFiles, fsGroup: number | undefined): Promise<string> {
    const folder = await mkdtemp(join(this.#folder, `..${stampOf(this.#clock.now())}.`));
    try {
      await writeFiles(folder, files, { fsGroup, mounter: this.#mounter });
      const link = join(this.#folder, newDataName);
      await unlink(link).catch(ifCode('ENOENT'));
      await symlink(basename(folder), link);
      await rename(link, join(this.#folder, dataName));
    } catch (error) {
      await removeTree(folder);
      throw error;
    }
    return basename(folder);
  }

  /** Makes the links that users see, where they are missing. */
  async #link(files: ProjectedFiles, fsGroup: number | undefined): Promise<void> {
    const done = new Set<string>();
    for (const [path, { fsUser }] of files) {
      const name = firstPart(path);
      if (done.has(name)) continue;
      done.add(name);
      const visible = join(this.#folder, name);
      // a folder that stands there is where another volume is mounted
      if ((await lstat(visible).catch(ifCode('ENOENT'))) !== undefined) continue;
      await symlink(`${dataName}/${name}`, visible);
      if (fsUser !== undefined || fsGroup !== undefined) await this.#mounter.changeOwner(visible, { uid: fsUser, gid: fsGroup });
    }
  }

  /** Removes the links of files that are gone, and older folders of files. */
  async #tidy(names: ReadonlySet<string>, current: string): Promise<void> {
    for (const entry of await readdir(this.#folder, { withFileTypes: true })) {
      const path = join(this.#folder, entry.name);
      if (entry.name.startsWith('..')) {
        if (entry.name !== dataName && entry.name !== current) await removeTree(path);
      } else if (entry.isSymbolicLink() && !names.has(entry.name)) {
        await unlink(path).catch(ifCode('ENOENT'));
      }
    }
  }
}

function firstPart(path: string): string {
  const end = path.indexOf('/');
  return end < 0 ? path : path.slice(0, end);
}

/** The second, for the name of a folder; what makes the name its own comes behind it. */
function stampOf(now: number): string {
  return formatTime(now).slice(0, 19).replace(/[-:T]/g, '_');
}

/** The same for files that would be written alike. Bytes that many files show are read once. */
function digestOf(files: ProjectedFiles, fsGroup: number | undefined): string {
  const hash = createHash('sha256').update(`${fsGroup}\0`);
  const seen = new Map<Uint8Array, string>();
  for (const [path, { data, mode, fsUser }] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    let digest = seen.get(data);
    if (digest === undefined) {
      digest = createHash('sha256').update(data).digest('base64');
      seen.set(data, digest);
    }
    hash.update(`${JSON.stringify([path, mode, fsUser, digest])}\0`);
  }
  return hash.digest('hex');
}
