// Behaviour of makeMounts in pkg/kubelet/kubelet_pods.go and of pkg/volume/util/subpath, v1.36.3.

import { type FileHandle, lstat, mkdir, open, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ifCode } from '../../base/errors.ts';
import { isDnsLabel } from '../../base/names.ts';
import { makeFolders } from '../../node/files/make-folders.ts';
import { makeFoldersIn, openBelow } from '../../node/files/opened-folder.ts';
import { removeTree } from '../../node/files/remove-tree.ts';
import type { Mounter } from './mounter.ts';

/** A part of a volume that a container is to see. */
export interface SubPathRequest {
  /** Makes the mount. */
  readonly mounter: Mounter;
  /** The pod's own folder, `pods/UID`. */
  readonly podFolder: string;
  readonly volumeName: string;
  readonly containerName: string;
  /** Which of the container's mounts it is, from 0. */
  readonly index: number;
  readonly volumePath: string;
  /** The path inside the volume, with all variables expanded. */
  readonly subPath: string;
  /** Gives the call up. */
  readonly signal?: AbortSignal;
}

const folderName = 'volume-subpaths';
/** So many sub paths of one pod are shown: each is an entry of the kernel's table of mounts, which all pods share. */
const mostOfPod = 500;
const folderMode = 0o750;
const fileMode = 0o640;

/**
 * Shows a part of a volume at a path of its own, which nothing that the pod does in its volume changes any more, and resolves
 * with that path. Symbolic links are followed as long as they stay in the volume; what is missing is made as folders with
 * the volume's mode. Called again, it changes nothing that is right.
 *
 * Rejects with the kubelet's words, which tell nothing of the node's files; the `cause` tells more.
 */
export async function prepareSubPath(request: SubPathRequest): Promise<string> {
  const { subPath, volumeName, containerName } = request;
  if (subPath.startsWith('/')) throw new Error(`error SubPath \`${subPath}\` must not be an absolute path`);
  const parts = subPath.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw new Error(`unable to provision SubPath \`${subPath}\`: must not contain '..'`);
  const which = `volumeMount ${JSON.stringify(volumeName)} of container ${JSON.stringify(containerName)}`;
  const podFolder = await realpath(request.podFolder);
  const target = targetOf(request, podFolder);
  const shown = await request.mounter.mountsBelow(join(podFolder, folderName));
  const mounts = shown.filter((path) => path === target);
  if (mounts.length === 0 && shown.length >= mostOfPod) {
    throw new Error(`the pod has ${shown.length} sub paths, and this node shows ${mostOfPod} of one pod`);
  }
  let source: FileHandle;
  try {
    source = await openInVolume(request, parts);
  } catch (cause) {
    throw new Error(`failed to create subPath directory for ${which}`, { cause });
  }
  try {
    await show(source, target, mounts, request);
  } catch (cause) {
    throw new Error(`failed to prepare subPath for ${which}`, { cause });
  } finally {
    await source.close();
  }
  return target;
}

function targetOf({ volumeName, containerName, index }: SubPathRequest, podFolder: string): string {
  if (!isDnsLabel(volumeName) || !isDnsLabel(containerName)) throw new Error('a volume and a container have DNS labels as names');
  if (!Number.isSafeInteger(index) || index < 0) throw new Error('the index of a mount is a whole number from 0 up');
  return join(podFolder, folderName, volumeName, containerName, String(index));
}

/** Opens the part of the volume; makes what is missing. The volume may hang at each step, for so long that nobody waits any more. */
async function openInVolume({ volumePath, signal }: SubPathRequest, parts: readonly string[]): Promise<FileHandle> {
  const base = await realpath(volumePath);
  signal?.throwIfAborted();
  for (let known = parts.length; ; known -= 1) {
    const found = await realpath(join(base, ...parts.slice(0, known))).catch(ifCode('ENOENT'));
    signal?.throwIfAborted();
    if (found === undefined && known > 0) continue;
    if (found !== base && !found?.startsWith(base === '/' ? '/' : `${base}/`))
      throw new Error('the path leads out of the volume');
    // what was resolved may have been changed since: nothing is followed from here on
    const names = found
      .slice(base.length)
      .split('/')
      .filter((name) => name !== '');
    const missing = parts.slice(known);
    if (missing.length === 0) return openBelow(base, names);
    const { mode } = await stat(base);
    const foundFolder = await openBelow(base, names);
    if (signal?.aborted) await foundFolder.close();
    signal?.throwIfAborted();
    return makeFoldersIn(foundFolder, missing, mode & 0o7777);
  }
}

async function show(
  source: FileHandle,
  target: string,
  mounts: readonly string[],
  { mounter, signal }: SubPathRequest,
): Promise<void> {
  const wanted = await source.stat();
  if (mounts.length === 1) {
    const shown = await lstat(target);
    if (shown.dev === wanted.dev && shown.ino === wanted.ino) return;
  }
  // the volume may have hung for so long that nobody waits any more
  signal?.throwIfAborted();
  for (const path of mounts) await mounter.unmount(path, signal);
  await makeFolders(dirname(target), folderMode);
  const before = await lstat(target).catch(ifCode('ENOENT'));
  if (before !== undefined && before.isDirectory() !== wanted.isDirectory()) await removeTree(target);
  if (wanted.isDirectory()) await mkdir(target, { mode: folderMode }).catch(ifCode('EEXIST'));
  else await (await open(target, 'a', fileMode)).close();
  await mounter.bind(`/proc/${process.pid}/fd/${source.fd}`, target, {}, signal);
}
