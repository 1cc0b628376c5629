// Behaviour of pkg/volume/util/volumepathhandler and of MapBlockVolume in pkg/volume/util, v1.36.3.

import { lstat, open, readlink, rename, rmdir, symlink, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCodeOf, ifCode } from '../../base/errors.ts';
import { makeFolders } from '../../node/files/make-folders.ts';
import type { Mounter } from '../volumes/mounter.ts';

/** Where a block device is shown. */
export interface DeviceMap {
  readonly mounter: Pick<Mounter, 'bind' | 'unmount' | 'mountsBelow' | 'holdDevice' | 'releaseDevice'>;
  /** The folder of the persistent volume, which has a file for each pod; without symbolic links. */
  readonly globalFolder: string;
  /** The symbolic link that containers get the device by. */
  readonly podLink: string;
  readonly podUID: string;
}

const folderMode = 0o750;
const mostTries = 5;

/**
 * Shows a device to a pod, and keeps it open. The link comes first: by it the pod's end finds what is to be taken back. Done again, it changes
 * nothing that is right.
 */
export async function mapDevice(devicePath: string, map: DeviceMap): Promise<void> {
  const { mounter, globalFolder, podLink, podUID } = map;
  await linkDevice(devicePath, podLink);
  const file = join(globalFolder, podUID);
  if (!(await mounter.mountsBelow(globalFolder)).includes(file)) {
    await makeFile(globalFolder, file);
    await mounter.bind(devicePath, file, {});
  }
  await mounter.holdDevice(file);
}

/** The end of another pod that has the device removes the folder as long as it is empty. */
async function makeFile(folder: string, file: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    await makeFolders(folder, folderMode);
    try {
      return await (await open(file, 'a', folderMode)).close();
    } catch (error) {
      if (errorCodeOf(error) !== 'ENOENT' || tries === mostTries) throw error;
    }
  }
}

/** Takes back what `mapDevice`, or a kubelet, has made. The link goes last. Rejects where something is left. */
export async function unmapDevice(map: DeviceMap): Promise<void> {
  await releaseDeviceMap(map);
  await removeDeviceLink(map.podLink);
}

/** All but the link. */
export async function releaseDeviceMap({ mounter, globalFolder, podUID }: Omit<DeviceMap, 'podLink'>): Promise<void> {
  const file = join(globalFolder, podUID);
  await mounter.releaseDevice(file);
  for (const target of await mounter.mountsBelow(file)) await mounter.unmount(target);
  const [left] = await mounter.mountsBelow(file);
  if (left !== undefined) throw new Error(`${left} is still mounted`);
  const found = await lstat(file).catch(ifCode('ENOENT', 'ENOTDIR'));
  if (found !== undefined) {
    // a device, or a file with something in it, is not what was made here
    if (!found.isFile() || found.size > 0) throw new Error(`${file} is no empty file`);
    await unlink(file);
  }
  // other pods may use it
  await rmdir(globalFolder).catch(ifCode('ENOENT', 'ENOTEMPTY'));
}

export async function removeDeviceLink(podLink: string): Promise<void> {
  const own = await lstat(podLink).catch(ifCode('ENOENT', 'ENOTDIR'));
  if (own === undefined) return;
  if (!own.isSymbolicLink()) throw new Error(`${podLink} is no symbolic link`);
  await unlink(podLink);
}

/** The link comes before the device: whoever takes it back finds it by the link. */
export async function linkDevice(devicePath: string, podLink: string): Promise<void> {
  if ((await readlink(podLink).catch(ifCode('ENOENT', 'EINVAL'))) === devicePath) return;
  await makeFolders(dirname(podLink), folderMode);
  // no persistent volume has a name with two dots in front, and the pod's other ones are linked at the same time
  const made = join(dirname(podLink), `..${basename(podLink)}`);
  await unlink(made).catch(ifCode('ENOENT'));
  await symlink(devicePath, made);
  await rename(made, podLink);
}
