import { constants } from 'node:fs';
import { lstat, open, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { settledAtOnce } from '../../base/concurrency/aborts.ts';
import { ifCode } from '../../base/errors.ts';
import { isDnsLabel } from '../../base/names.ts';
import { AtomicWriter } from '../files/atomic-writer.ts';
import { makeFolders } from '../files/make-folders.ts';
import { makeFoldersIn, openFolder } from '../files/opened-folder.ts';
import { removeTree } from '../files/remove-tree.ts';
import { fileHasText } from '../files/small-file.ts';
import { collected, FileBytes } from '../pod-files/file-bytes.ts';
import type { NodePod, ResolvedFiles } from './pod-provider.ts';

export interface PodFoldersOptions {
  /** An absolute path. */
  readonly folder: string;
  /** Whose pods they are: several nodes may have one folder. */
  readonly nodeName: string;
  readonly clock: Clock;
}

/** What was written of one pod: the folder of each volume, or why it could not be written, by the name of the volume. */
export interface WrittenVolumes {
  readonly folders: Readonly<Record<string, string>>;
  readonly failures: ReadonlyMap<string, unknown>;
}

/** Nobody but the agent's user and group gets into the folder of a pod. */
const hiddenMode = 0o750;
const volumeMode = 0o755;
/** Says that a folder is a pod's, and of which node. */
const markerName = '.pod-status-manager';
/** A uid as the apiserver makes it, or a static pod's hash. */
const uidForm = /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32})$/;
/** So many volumes of a pod are written at once. */
const atOnce = 4;
/** What the files of one pod, and of all pods, may take where they are written. */
const limits = { maxFileBytesPerPod: 16 * 1024 * 1024, maxFileBytes: 256 * 1024 * 1024 };
const words = {
  what: 'the files that',
  ofPod: 'a provider node writes for one pod',
  ofAll: 'a provider node writes for all pods',
  help: 'Let the pod refer to less',
};

/** The files of pods below one folder, as `UID/volumes/NAME`. Calls for one pod must come one after another. */
export class PodFolders {
  readonly #options: PodFoldersOptions;
  readonly #bytes = new FileBytes(limits, words);
  /** The writers of each pod, by the name of the volume: they know what they have written. */
  readonly #writers = new Map<string, Map<string, AtomicWriter>>();
  #root: Promise<string> | undefined;

  constructor(options: PodFoldersOptions) {
    this.#options = options;
  }

  /** Brings the files of the pod's volumes up to date, each volume at once for its readers. Rejects where the pod can have no folder. */
  async write({ metadata }: NodePod, files: ResolvedFiles): Promise<WrittenVolumes> {
    const { uid, namespace, name } = metadata;
    if (!uidForm.test(uid)) throw new Error(`the uid of the pod is none that a folder is made for: ${JSON.stringify(uid)}`);
    const root = await this.#makeRoot();
    await this.#mark(root, uid);
    const bytes = this.#bytes.begin(uid, `${namespace}/${name}`);
    const failures = new Map<string, unknown>();
    const folders: [string, string][] = [];
    const volumes = Object.entries(files);
    const results = await settledAtOnce(volumes, atOnce, async ([volume, inside]) => {
      if (!isDnsLabel(volume)) throw new Error('the name of the volume is no DNS label');
      const { files: projected, bytes: size, besideBytes } = collected(Object.entries(inside));
      bytes.add(size + besideBytes);
      await this.#makeFolders(root, [uid, 'volumes', volume], volumeMode);
      const folder = join(root, uid, 'volumes', volume);
      await this.#writerOf(uid, volume, folder).write(projected);
      return folder;
    });
    for (const [index, result] of results.entries()) {
      const volume = volumes[index]?.[0] ?? '';
      if (result.status === 'fulfilled') folders.push([volume, result.value]);
      else failures.set(volume, result.reason);
    }
    // where one has failed, its older files may still be there
    if (failures.size === 0) bytes.done();
    return { folders: Object.fromEntries(folders), failures };
  }

  /** Removes all files of a pod, following no symbolic link. A pod without files is no error. */
  async remove(podUID: string): Promise<void> {
    this.#writers.delete(podUID);
    if (!uidForm.test(podUID)) return;
    const root = await this.#findRoot();
    if (root !== undefined && (await this.#isOwn(root, podUID))) {
      // what says whose the folder is goes last: what is left of it is found again
      await removeTree(join(root, podUID, 'volumes'));
      await removeTree(join(root, podUID));
    }
    this.#bytes.forget(podUID);
  }

  /** The uids of pods of this node that have a folder. What has another name, or was made by somebody else, is left out. */
  async onDisk(): Promise<readonly string[]> {
    const root = await this.#findRoot();
    if (root === undefined) return [];
    const own: string[] = [];
    for (const entry of await readdir(root, { withFileTypes: true })) {
      if (entry.isDirectory() && uidForm.test(entry.name) && (await this.#isOwn(root, entry.name))) own.push(entry.name);
    }
    return own;
  }

  #writerOf(podUID: string, volume: string, folder: string): AtomicWriter {
    const writers = this.#writers.get(podUID) ?? new Map<string, AtomicWriter>();
    this.#writers.set(podUID, writers);
    const writer = writers.get(volume) ?? new AtomicWriter(folder, { mounter: keepsOwners, clock: this.#options.clock });
    writers.set(volume, writer);
    return writer;
  }

  /** The marker is there before anything else of the pod. */
  async #mark(root: string, podUID: string): Promise<void> {
    if (await this.#isOwn(root, podUID)) return;
    await this.#makeFolders(root, [podUID], hiddenMode);
    const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
    const marker = await open(join(root, podUID, markerName), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
    try {
      await marker.writeFile(this.#markerText());
    } finally {
      await marker.close();
    }
    await this.#makeFolders(root, [podUID, 'volumes'], hiddenMode);
  }

  /** Follows no symbolic link below the root. */
  async #makeFolders(root: string, names: readonly string[], mode: number): Promise<void> {
    const handle = await makeFoldersIn(await openFolder(root), names, mode);
    await handle.close();
  }

  async #isOwn(root: string, podUID: string): Promise<boolean> {
    const found = await lstat(join(root, podUID)).catch(ifCode('ENOENT'));
    return found?.isDirectory() === true && (await fileHasText(join(root, podUID, markerName), this.#markerText()));
  }

  #markerText(): string {
    return `the files of a pod of node ${this.#options.nodeName}\n`;
  }

  #makeRoot(): Promise<string> {
    this.#root ??= this.#newRoot().catch((error: unknown) => {
      this.#root = undefined;
      throw error;
    });
    return this.#root;
  }

  async #newRoot(): Promise<string> {
    const { folder } = this.#options;
    await makeFolders(folder, hiddenMode);
    return realpath(folder);
  }

  /** Undefined where nothing has been written yet. */
  #findRoot(): Promise<string | undefined> {
    return realpath(this.#options.folder).catch(ifCode('ENOENT'));
  }
}

/** The files are the agent's own user's. */
const keepsOwners = { changeOwner: async (): Promise<void> => {} };
