import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join, posix } from 'node:path';
import type { Pod } from '../../api/json/types.ts';
import { containersOfPod } from '../../api/pod/pod-containers.ts';
import { errorText, ifCode, invalidArgument } from '../../base/errors.ts';
import { isPathSegment } from '../../base/options.ts';
import { makeFoldersIn, openFolder } from '../../node/files/opened-folder.ts';
import { emptyTree, removeTree } from '../../node/files/remove-tree.ts';
import type { Mounter } from './mounter.ts';

/** What of a volume must not outlive its pod, not even where it cannot be unmounted. */
const secretFolders = ['kubernetes.io~secret', 'kubernetes.io~projected'];

/** The folder of storage drivers' volumes among a pod's volumes. */
export const driverVolumesFolder = 'kubernetes.io~csi';

/** The folders of volumes whose files are the agent's. What is in any other one is not the agent's to unmount or delete. */
const ownFolders = new Set([
  ...secretFolders,
  'kubernetes.io~configmap',
  'kubernetes.io~downward-api',
  'kubernetes.io~empty-dir',
]);

/** The folder of a pod's block devices, beside that of its volumes. */
export const devicesFolderName = 'volumeDevices';

export function podsFolder(rootDirectory: string): string {
  return join(rootDirectory, 'pods');
}

/** The folder of one pod. Throws ERR_INVALID_ARGUMENT for a uid that is no plain name of a folder. */
export function podFolder(rootDirectory: string, podUID: string): string {
  if (!isFolderName(podUID)) throw invalidArgument('podUID', 'the name of a folder', podUID);
  return join(podsFolder(rootDirectory), podUID);
}

function isFolderName(podUID: string): boolean {
  return isPathSegment(podUID) && !podUID.startsWith('.') && !podUID.includes('\0');
}

/**
 * Unmounts what is mounted in the pod's folder, the deepest first, has drivers take back their volumes, and then removes the folder. Secrets
 * are wiped before they are unmounted. While anything is still mounted nothing else is deleted: it rejects. What a driver has mounted only
 * the driver unmounts.
 */
export async function removePodFolder(
  folder: string,
  mounter: Mounter,
  unmountDrivers: (volumesFolder: string) => Promise<void>,
): Promise<void> {
  const found = await lstat(folder).catch(ifCode('ENOENT', 'ENOTDIR'));
  if (found === undefined) return;
  if (found.isDirectory()) await unmountAll(folder, mounter, unmountDrivers);
  await removeTree(folder);
}

async function unmountAll(
  folder: string,
  mounter: Mounter,
  unmountDrivers: (volumesFolder: string) => Promise<void>,
): Promise<void> {
  const own = async (): Promise<readonly string[]> =>
    (await mounter.mountsBelow(folder)).filter((target) => !isOfDriver(folder, target));
  const failures: unknown[] = [];
  const targets = await own();
  for (const target of outerOnes(targets)) await mounter.isolate(target);
  for (const target of targets) {
    try {
      if (holdsSecrets(target) && (await mounter.isTmpfs(target))) await wipe(target);
    } catch (error) {
      failures.push(error);
    }
    await mounter.unmount(target).catch((error: unknown) => failures.push(error));
  }
  requireNone(folder, await own(), failures);
  await unmountDrivers(join(folder, 'volumes'));
  requireNone(folder, await mounter.mountsBelow(folder), failures);
  // a driver may have put files of its own there: they are not the agent's to delete
  const left = await driverVolumesIn(folder);
  if (left.length > 0) throw new Error(`volumes of drivers in ${folder} are not taken back: ${left.slice(0, 5).join(', ')}`);
}

/** True for a path in a volume, or a device, that a driver or a claim has brought. */
function isOfDriver(folder: string, target: string): boolean {
  const [place = '', type = ''] = target.slice(folder.length + 1).split('/');
  return place === devicesFolderName || (place === 'volumes' && !ownFolders.has(type));
}

/** Mounts that have others below them: what comes and goes below one may be shared with the place that it shows. */
function outerOnes(targets: readonly string[]): readonly string[] {
  return targets.filter((target) => targets.some((other) => other.startsWith(`${target}/`)));
}

/** What drivers and claims have left in a pod's folder, of one type or of all: the folders of volumes, and links to devices. */
export async function driverVolumesIn(folder: string, only?: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const place of ['volumes', devicesFolderName]) {
    const types = (await readdir(join(folder, place)).catch(ifCode('ENOENT', 'ENOTDIR'))) ?? [];
    for (const type of types) {
      if ((place === 'volumes' && ownFolders.has(type)) || (only !== undefined && type !== only)) continue;
      const names = await readdir(join(folder, place, type)).catch(ifCode('ENOENT', 'ENOTDIR'));
      found.push(...(names ?? []));
    }
  }
  return found;
}

function requireNone(folder: string, left: readonly string[], failures: readonly unknown[]): void {
  if (left.length === 0) return;
  const why = failures.length === 0 ? '' : `: ${errorText(failures[0])}`;
  throw new AggregateError(failures, `volumes in ${folder} are still mounted: ${left.slice(0, 5).join(', ')}${why}`);
}

/** True for the folder of a volume whose files are secret. A sub path that shows a part of one is no such folder. */
function holdsSecrets(target: string): boolean {
  const [type, volumes] = [basename(dirname(target)), basename(dirname(dirname(target)))];
  return volumes === 'volumes' && secretFolders.includes(type);
}

/** What is unmounted while somebody still uses it lives on until then: empty, at least. */
async function wipe(target: string): Promise<void> {
  await emptyTree(await openFolder(target), target);
}

/** The uids of pods that have a folder. What can be no pod's is left out. */
export async function podsOnDisk(rootDirectory: string): Promise<readonly string[]> {
  const entries = await readdir(podsFolder(rootDirectory), { withFileTypes: true }).catch(ifCode('ENOENT'));
  return (entries ?? []).filter((entry) => entry.isDirectory() && isFolderName(entry.name)).map(({ name }) => name);
}

/** One volume of a pod, ready for its containers. */
export interface MountedVolume {
  /** The volume's name in the pod's spec. */
  readonly name: string;
  /** The volume's type, by the field that names it in the spec, such as `emptyDir`. */
  readonly type: string;
  /** The absolute path on the node; empty for an image volume and for a block device. */
  readonly hostPath: string;
  /** Of a block device: its absolute path on the node, or that of a symbolic link to it. */
  readonly devicePath?: string;
  /** True: no container may write. */
  readonly readonly: boolean;
  /** True: the runtime gives the files the container's SELinux label. */
  readonly selinuxRelabel: boolean;
  /** Of an image volume: the reference that pulling it gave. */
  readonly imageRef?: string;
}

/** The volumes of a pod by name. */
export type PodVolumes = ReadonlyMap<string, MountedVolume>;

// Behaviour of MakeNestedMountpoints in pkg/volume/util/nested_volumes.go, v1.36.3.

/** The longest path that the kernel takes. */
const longestPath = 4096;

/**
 * Where in this volume other volumes of a container are mounted: paths in the volume, none below another one of its container.
 * Throws for one that no kernel takes.
 */
function nestedMountPoints(pod: Pod, volumeName: string): readonly string[] {
  const found = new Set<string>();
  for (const { volumeMounts } of containersOfPod(pod)) {
    const mounts = (volumeMounts ?? []).map(({ name, mountPath }) => ({ name, path: plainPath(mountPath) }));
    const own = mounts.filter(({ name }) => name === volumeName);
    if (own.length === 0) continue;
    // with this sign for the slash, what is below a path comes right behind it
    const paths = mounts.map(({ path }) => path.replaceAll('/', '\0')).sort();
    const places = new Map(paths.map((path, index) => [path.replaceAll('\0', '/'), index]));
    for (const { path } of own) addBelow(path, paths, (places.get(path) ?? paths.length) + 1, found);
  }
  return [...found];
}

function addBelow(path: string, paths: readonly string[], from: number, found: Set<string>): void {
  const prefix = `${path}/`.replaceAll('/', '\0');
  let last: string | undefined;
  for (let index = from; paths[index]?.startsWith(prefix); index += 1) {
    const other = paths[index] ?? '';
    if (last !== undefined && other.startsWith(`${last}\0`)) continue;
    last = other;
    if (other.length > longestPath) throw new Error(`the path of a mount is longer than ${longestPath} characters`);
    found.add(other.slice(prefix.length).replaceAll('\0', '/'));
  }
}

function plainPath(mountPath: string): string {
  return posix.normalize(mountPath).replace(/\/$/, '');
}

/** Makes the folders that other volumes are mounted on: a container cannot make them in a volume that it can only read. */
export async function makeNestedMountPoints(pod: Pod, volumeName: string, folder: string): Promise<void> {
  for (const path of nestedMountPoints(pod, volumeName)) {
    const made = await makeFoldersIn(await openFolder(folder), path.split('/'), 0o755);
    await made.close();
  }
}
