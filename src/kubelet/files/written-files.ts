import { constants } from 'node:fs';
import { chmod, mkdir, open, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ifCode } from '../../base/errors.ts';
import type { Mounter } from './mounter.ts';
import type { ProjectedFile, ProjectedFiles } from './projected-files.ts';

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
  readonly mounter: Pick<Mounter, 'changeOwner'>;
}

/** Writes the files below a new folder that nobody else knows. Modes do not depend on the umask. */
export async function writeFiles(folder: string, files: ProjectedFiles, owners: FileOwners): Promise<void> {
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
export async function hasContent(folder: string, files: ProjectedFiles): Promise<boolean> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(ifCode('ENOENT', 'ENOTDIR'));
  if (entries === undefined || entries.filter((entry) => !entry.isDirectory()).length !== files.size) return false;
  for (const [path, { data }] of files) {
    const found = await readFile(join(folder, path)).catch(ifCode('ENOENT', 'ENOTDIR', 'EISDIR'));
    if (found === undefined || !found.equals(data)) return false;
  }
  return true;
}
