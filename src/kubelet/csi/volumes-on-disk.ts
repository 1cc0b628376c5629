import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, ifCode } from '../../base/errors.ts';
import type { Mounter } from '../volumes/mounter.ts';
import { driverVolumesFolder, podFolder, podsOnDisk } from '../volumes/pod-folder.ts';
import { ephemeralMode, type LoadedVolumeData, loadVolumeData } from './volume-data.ts';
import { type CsiVolumeID, globalMount, stagingRoot, uniqueVolumeName } from './volume-ids.ts';

/** What the disk of the node says of the volumes that drivers have made of PersistentVolumes. */
export interface VolumesOnDisk {
  /** The uids of pods that may have a volume, by its unique name. */
  readonly users: ReadonlyMap<string, ReadonlySet<string>>;
  /** The volumes that are there, of pods or of the node, by their unique names. */
  readonly volumes: ReadonlyMap<string, CsiVolumeID>;
  /** Folders of which nobody can say what volume they have. */
  readonly unknown: readonly UnknownVolume[];
}

export interface UnknownVolume {
  readonly folder: string;
  readonly message: string;
}

/** The folders beside those of drivers. */
export const devicesFolder = 'volumeDevices';

class Findings implements VolumesOnDisk {
  readonly users = new Map<string, Set<string>>();
  readonly volumes = new Map<string, CsiVolumeID>();
  readonly unknown: UnknownVolume[] = [];

  add({ driverName, volumeHandle }: CsiVolumeID, podUID?: string): void {
    const name = uniqueVolumeName({ driverName, volumeHandle });
    this.volumes.set(name, { driverName, volumeHandle });
    if (podUID !== undefined) this.users.set(name, (this.users.get(name) ?? new Set()).add(podUID));
  }
}

/** Reads it all, one folder after another. Rejects where a folder cannot be read: nothing is known then. */
export async function readVolumesOnDisk(rootDirectory: string, mounter: Pick<Mounter, 'mountsBelow'>): Promise<VolumesOnDisk> {
  const found = new Findings();
  const devices = await readDevices(rootDirectory, found);
  for (const podUID of await podsOnDisk(rootDirectory)) {
    const folder = podFolder(rootDirectory, podUID);
    for (const path of await foldersIn(join(folder, 'volumes', driverVolumesFolder))) {
      const data = await dataOf(path, found, mounter);
      if (data !== undefined && data.volumeLifecycleMode !== ephemeralMode) found.add(data, podUID);
    }
    const links = join(folder, devicesFolder, driverVolumesFolder);
    for (const name of await namesIn(links)) {
      // one that was not whole when the process ended
      if (name.startsWith('..')) continue;
      const data = devices.get(name);
      if (data === undefined) noteUnknown(found, join(links, name), new Error('no file says by which driver the device is'));
      else found.add(data, podUID);
    }
  }
  for (const driverFolder of await foldersIn(stagingRoot(rootDirectory))) {
    if (driverFolder.endsWith(`/${devicesFolder}`)) continue;
    for (const path of await foldersIn(driverFolder)) {
      const data = await dataOf(path, found, mounter, globalMount(path));
      if (data !== undefined) found.add(data);
    }
  }
  return found;
}

/** Block devices of the node, by the names of their PersistentVolumes. Of one whose file cannot be read only its pods are unknown. */
async function readDevices(rootDirectory: string, found: Findings): Promise<ReadonlyMap<string, CsiVolumeID>> {
  const root = join(stagingRoot(rootDirectory), devicesFolder);
  const devices = new Map<string, CsiVolumeID>();
  for (const name of await namesIn(root)) {
    if (name === 'staging' || name === 'publish') continue;
    const folder = join(root, name, 'data');
    const data = await loadVolumeData(folder).catch((error: unknown) => void noteUnknown(found, folder, error));
    if (data === undefined) continue;
    devices.set(name, data);
    found.add(data);
    for (const podUID of await namesIn(join(root, 'publish', name))) found.add(data, podUID);
  }
  return devices;
}

/** Undefined also where nobody can say; then that is noted. A folder in which nothing was begun is of no volume. */
async function dataOf(
  folder: string,
  found: Findings,
  mounter: Pick<Mounter, 'mountsBelow'>,
  mount = folder,
): Promise<LoadedVolumeData | undefined> {
  try {
    const data = await loadVolumeData(folder);
    if (data !== undefined) return data;
    const [mounted] = await mounter.mountsBelow(mount);
    if (mounted !== undefined) throw new Error(`${mounted} is mounted, and no file says by which driver`);
  } catch (error) {
    noteUnknown(found, folder, error);
  }
  return undefined;
}

function noteUnknown(found: Findings, folder: string, error: unknown): void {
  found.unknown.push({ folder, message: errorText(error) });
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(ifCode('ENOENT', 'ENOTDIR'))) ?? [];
}

async function foldersIn(folder: string): Promise<readonly string[]> {
  return (await namesIn(folder)).map((name) => join(folder, name));
}
