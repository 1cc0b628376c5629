// Layout of pkg/volume/util/atomic_writer.go, v1.36.3, which programs that watch their config maps depend on.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, lstat, mkdir, mkdtemp, open, readdir, readFile, readlink, rename, symlink, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { formatTime } from '../../api/json/time.ts';
import type { Clock } from '../../base/clock.ts';
import { ifCode } from '../../base/errors.ts';
import { removeTree } from './remove-tree.ts';

/** How files are written. */
export interface FileWriteOptions {
  /** The numeric group that owns what is written, and can read all of it. */
  readonly fsGroup?: number | undefined;
}

/** Who owns a file. What is absent stays as it is. */
export interface Ownership {
  /** The numeric user. */
  readonly uid?: number | undefined;
  /** The numeric group. */
  readonly gid?: number | undefined;
}

/** What changes the owners of files. */
export interface OwnerChanger {
  /** Changes who owns the file, the folder, or the symbolic link itself. */
  changeOwner(path: string, owner: Ownership): Promise<void>;
}

/** What a writer needs. */
export interface AtomicWriterOptions {
  /** Changes owners. */
  readonly mounter: OwnerChanger;
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
  readonly #mounter: OwnerChanger;
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
  async write(files: ProjectedFiles, { fsGroup }: FileWriteOptions = {}): Promise<boolean> {
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

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
const folderMode = 0o755;
/** What a group must be able to do with a file and with a folder. */
const readable = 0o440;
const listable = 0o2550;
/** So many files are written at once. */
const atOnce = 8;

/** Who owns the files. */
export interface FileOwners {
  readonly fsGroup: number | undefined;
  readonly mounter: OwnerChanger;
}

/** Writes the files below a new folder that nobody else knows. Modes do not depend on the umask. */
async function writeFiles(folder: string, files: ProjectedFiles, owners: FileOwners): Promise<void> {
  const folders = new Set<string>();
  for (const path of files.keys()) {
    for (let parent = dirname(path); parent !== '.'; parent = dirname(parent)) folders.add(parent);
  }
  // a parent is shorter than what it holds
  const inOrder = [...folders].sort((a, b) => a.length - b.length);
  for (const path of inOrder) await mkdir(join(folder, path));
  const waiting = files[Symbol.iterator]();
  const work = async (): Promise<void> => {
    for (const [path, file] of waiting) await writeOne(join(folder, path), file, owners);
  };
  // nothing is written any more once this has settled
  const results = await Promise.allSettled(Array.from({ length: atOnce }, work));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  for (const path of [...inOrder.reverse(), '.']) await setFolder(join(folder, path), owners);
}

async function setFolder(path: string, { fsGroup, mounter }: FileOwners): Promise<void> {
  if (fsGroup !== undefined) await mounter.changeOwner(path, { gid: fsGroup });
  await chmod(path, fsGroup === undefined ? folderMode : folderMode | listable);
}

async function writeOne(path: string, { data, mode, fsUser }: ProjectedFile, { fsGroup, mounter }: FileOwners): Promise<void> {
  const handle = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    await handle.writeFile(data);
    if (fsUser !== undefined || fsGroup !== undefined) await mounter.changeOwner(path, { uid: fsUser, gid: fsGroup });
    // after the owner: a change of owner takes bits away
    await handle.chmod(fsGroup === undefined ? mode : mode | readable);
  } finally {
    await handle.close();
  }
}

/** True where exactly these files are below the folder, with these contents. */
async function hasContent(folder: string, files: ProjectedFiles): Promise<boolean> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(ifCode('ENOENT', 'ENOTDIR'));
  if (entries === undefined || entries.filter((entry) => !entry.isDirectory()).length !== files.size) return false;
  for (const [path, { data }] of files) {
    const found = await readFile(join(folder, path)).catch(ifCode('ENOENT', 'ENOTDIR', 'EISDIR'));
    if (found === undefined || !found.equals(data)) return false;
  }
  return true;
}

// Rules of validatePath in pkg/volume/util/atomic_writer.go, v1.36.3.

const longestName = 255;
const longestPath = 4096;

/**
 * The parts of a relative path that a file of a volume may have. Throws an `Error` that says why it may not be a file's:
 * absolute, too long, with a part `..`, or with a first part that begins with `..`, as the writer's own names do.
 */
function projectedPath(path: string): readonly string[] {
  if (path === '') throw new Error('invalid path: must not be empty: ""');
  if (path.startsWith('/')) throw new Error(`invalid path: must be relative path: ${path}`);
  if (path.includes('\0')) throw new Error('invalid path: must not contain a NUL character');
  if (Buffer.byteLength(path) > longestPath)
    throw new Error(`invalid path: must be less than or equal to ${longestPath} characters`);
  const parts = path.split('/');
  if (parts.includes('..')) throw new Error(`invalid path: must not contain '..': ${path}`);
  if (parts.some((part) => Buffer.byteLength(part) > longestName)) {
    throw new Error(`invalid path: filenames must be less than or equal to ${longestName} characters`);
  }
  if (parts[0]?.startsWith('..')) throw new Error(`invalid path: must not start with '..': ${path}`);
  const plain = parts.filter((part) => part !== '' && part !== '.');
  if (plain.length === 0) throw new Error(`invalid path: must name a file: ${path}`);
  // `./..name` is cleaned to what is refused above
  if (plain[0]?.startsWith('..')) throw new Error(`invalid path: must not start with '..': ${path}`);
  return plain;
}

/** One file of a volume. */
export interface ProjectedFile {
  /** What stands in it. */
  readonly data: Uint8Array;
  /** Its mode, such as `0o644`. */
  readonly mode: number;
  /** The numeric user that owns it. Absent: that of the agent. */
  readonly fsUser?: number | undefined;
}

/** Files by their path inside the volume. */
export type ProjectedFiles = ReadonlyMap<string, ProjectedFile>;
