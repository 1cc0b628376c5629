// Behaviour of pkg/volume/csi/csi_util.go and of removeMountDir in csi_mounter.go, v1.36.3.

import { createHash } from 'node:crypto';
import { readdir, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject } from '../../api/json/json.ts';
import { errorText, ifCode } from '../../base/errors.ts';
import { nameBeside, replaceFile } from '../../node/files/replace-file.ts';
import { readAtMost } from '../../node/files/small-file.ts';
import type { CsiVolumeID } from './volume-ids.ts';

/** What is kept of a volume beside its mount, under the kubelet's names: a kubelet and this agent take over from each other by it. */
export interface VolumeData {
  readonly attachmentID: string;
  readonly driverName: string;
  readonly nodeName: string;
  readonly specVolID: string;
  readonly volumeHandle: string;
  readonly volumeLifecycleMode: string;
}

/** What a file has said of a volume. What a file of the kubelet's leaves out is absent. */
export type LoadedVolumeData = Pick<VolumeData, 'driverName' | 'volumeHandle'> & Partial<VolumeData>;

const volumeDataFile = 'vol_data.json';
/** Of a volume that lives with its pod. */
export const ephemeralMode = 'Ephemeral';
/** Of a volume that outlives its pod. */
export const persistentMode = 'Persistent';
const mostBytes = 65_536;

/** The id of a volume that lives with its pod. */
export function inlineVolumeHandle(podUID: string, volumeName: string): string {
  return hashed(`${podUID}${volumeName}`);
}

/** The name of the VolumeAttachment, whether there is one or not. */
export function attachmentID(volumeHandle: string, driverName: string, nodeName: string): string {
  return hashed(`${volumeHandle}${driverName}${nodeName}`);
}

function hashed(text: string): string {
  return `csi-${createHash('sha256').update(text).digest('hex')}`;
}

/** The folder that the driver mounts the volume at. */
export function mountFolder(volumeFolder: string): string {
  return join(volumeFolder, 'mount');
}

/** The file is whole or not there, also after a crash of the machine. */
export async function saveVolumeData(volumeFolder: string, data: VolumeData): Promise<void> {
  const { attachmentID: attachment, driverName, nodeName, specVolID, volumeHandle, volumeLifecycleMode } = data;
  // in the order in which Go writes a map
  const members = { attachmentID: attachment, driverName, nodeName, specVolID, volumeHandle, volumeLifecycleMode };
  await writeData(volumeFolder, members);
}

/** The same for a volume that is made ready for the node. */
export async function saveStageData(folder: string, { driverName, volumeHandle }: CsiVolumeID): Promise<void> {
  await writeData(folder, { driverName, volumeHandle });
}

/** The same for a block device of the node: which volume of the cluster it is says the file alone. */
export async function saveDeviceData(folder: string, data: VolumeData): Promise<void> {
  const { attachmentID: attachment, driverName, nodeName, specVolID, volumeHandle } = data;
  await writeData(folder, { attachmentID: attachment, driverName, nodeName, specVolID, volumeHandle });
}

async function writeData(folder: string, members: object): Promise<void> {
  await replaceFile(join(folder, volumeDataFile), `${JSON.stringify(members)}\n`, 0o644);
}

/** What is kept of the volume; undefined where there is nothing: nothing was published then. Rejects for what cannot be read. */
export async function loadVolumeData(volumeFolder: string): Promise<LoadedVolumeData | undefined> {
  const path = join(volumeFolder, volumeDataFile);
  const text = await readAtMost(path, mostBytes).catch(ifCode('ENOENT'));
  if (text === undefined) return undefined;
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (cause) {
    throw new Error(`failed to parse volume data file [${path}]: ${errorText(cause)}`, { cause });
  }
  const { driverName, volumeHandle, volumeLifecycleMode, specVolID } = isJsonObject(data) ? data : {};
  if (typeof driverName !== 'string' || typeof volumeHandle !== 'string' || driverName === '' || volumeHandle === '') {
    throw new Error(`the volume data file [${path}] names no driver and volume`);
  }
  return {
    driverName,
    volumeHandle,
    ...(typeof volumeLifecycleMode === 'string' && { volumeLifecycleMode }),
    ...(typeof specVolID === 'string' && { specVolID }),
  };
}

/** Removes the folder of a volume that is not mounted. What is in the mount's folder is never deleted: it rejects where that is not empty. */
export async function removeVolumeFolder(volumeFolder: string, mount = mountFolder(volumeFolder)): Promise<void> {
  await rmdir(mount).catch(ifCode('ENOENT'));
  const file = join(volumeFolder, volumeDataFile);
  for (const path of [nameBeside(file), file]) await unlink(path).catch(ifCode('ENOENT'));
  await rmdir(volumeFolder).catch(ifCode('ENOENT'));
}

/** The folders of volumes in the folder of the type. */
export async function volumeFolders(typeFolder: string): Promise<readonly string[]> {
  const names = (await readdir(typeFolder).catch(ifCode('ENOENT'))) ?? [];
  return names.map((name) => join(typeFolder, name));
}

/** Rejects what would take something back of which neither a file nor this process says which volume it is. `place`: a folder, or a device by its name. */
export function unsureVolume(place: string, cause: unknown): never {
  const words = `nobody can say which volume ${place} has, and nothing of it is taken back: ${errorText(cause)}`;
  const help = 'Mend that file, or see which driver and volume it is, unmount it, and remove what is left of it';
  throw new Error(`${words}. ${help}`, { cause });
}
