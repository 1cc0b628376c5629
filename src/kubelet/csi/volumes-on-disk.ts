import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, ifCode } from '../../base/errors.ts';
import type { Mounter } from '../volumes/mounter.ts';
import { driverVolumesFolder, podFolder, podsOnDisk } from '../volumes/pod-folder.ts';
import { ephemeralMode, type LoadedVolumeData, loadVolumeData } from './volume-data.ts';
import { type CsiVolumeID, stagingRoot, uniqueVolumeName } from './volume-ids.ts';

/** What the disk of the node says of the volumes that drivers have made of PersistentVolumes. */
export interface VolumesOnDisk {
  /** The uids of pods that may have a volume, by its unique name. */
  readonly users: ReadonlyMap<string, ReadonlySet<string>>;
  /** The volumes that are there, of pods or of the node, by their unique names. */
  readonly volumes: ReadonlyMap<string, PlacedVolume>;
  /** Folders of which nobody can say what volume they have. */
  readonly unknown: readonly UnknownVolume[];
}

export interface PlacedVolume extends CsiVolumeID {
  /** Whose file says so: one of several. */
  readonly folder: string;
}

export interface UnknownVolume {
  readonly folder: string;
  readonly message: string;
}

/** The folders beside those of drivers. */
export const devicesFolder = 'volumeDevices';

class Findings implements VolumesOnDisk {
  readonly users = new Map<string, Set<string>>();
  readonly volumes = new Map<string, PlacedVolume>();
  readonly unknown: UnknownVolume[] = [];

  add({ driverName, volumeHandle }: CsiVolumeID, folder: string, podUID?: string): void {
    const name = uniqueVolumeName({ driverName, volumeHandle });
    this.volumes.set(name, { driverName, volumeHandle, folder });
    if (podUID !== undefined) this.users.set(name, (this.users.get(name) ?? new Set()).add(podUID));
  }

  /** One that cannot be read costs what is in it, and no other one anything. */
  async namesIn(folder: string): Promise<readonly string[]> {
    return readNames(folder).catch((error: unknown) => {
      this.note(folder, error);
      return [];
    });
  }

  async foldersIn(folder: string): Promise<readonly string[]> {
    return (await this.namesIn(folder)).map((name) => join(folder, name));
  }

  note(folder: string, error: unknown): void {
    this.unknown.push({ folder, message: errorText(error) });
  }
}

/**
 * Reads it all, one folder after another. Rejects where the folder of all pods, or that of all drivers, cannot be read: nothing is known then.
 */
export async function readVolumesOnDisk(rootDirectory: string, mounter: Pick<Mounter, 'mountsBelow'>): Promise<VolumesOnDisk> {
  const found = new Findings();
  const podUIDs = await podsOnDisk(rootDirectory);
  const drivers = await readNames(stagingRoot(rootDirectory));
  const devices = await readDevices(rootDirectory, new Set(podUIDs), found);
  for (const podUID of podUIDs) {
    const folder = podFolder(rootDirectory, podUID);
    for (const path of await found.foldersIn(join(folder, 'volumes', driverVolumesFolder))) {
      const data = await dataOf(path, found, mounter);
      if (data !== undefined && data.volumeLifecycleMode !== ephemeralMode) found.add(data, path, podUID);
    }
    const links = join(folder, devicesFolder, driverVolumesFolder);
    for (const name of await found.namesIn(links)) {
      // one that was not whole when the process ended
      if (name.startsWith('..')) continue;
      const data = devices.get(name);
      if (data === undefined) found.note(join(links, name), new Error('no file says by which driver the device is'));
      else found.add(data, join(links, name), podUID);
    }
  }
  for (const driver of drivers) {
    if (driver === devicesFolder) continue;
    for (const path of await found.foldersIn(join(stagingRoot(rootDirectory), driver))) {
      const data = await dataOf(path, found, mounter);
      if (data !== undefined) found.add(data, path);
    }
  }
  return found;
}

/**
 * Block devices of the node, by the names of their PersistentVolumes. Of one whose file cannot be read only its pods are unknown. A pod without a
 * folder uses none: what is published for it is nobody's to take back.
 */
async function readDevices(
  rootDirectory: string,
  podUIDs: ReadonlySet<string>,
  found: Findings,
): Promise<ReadonlyMap<string, CsiVolumeID>> {
  const root = join(stagingRoot(rootDirectory), devicesFolder);
  const devices = new Map<string, CsiVolumeID>();
  for (const name of await found.namesIn(root)) {
    if (name === 'staging' || name === 'publish') continue;
    const folder = join(root, name, 'data');
    const data = await loadVolumeData(folder).catch((error: unknown) => found.note(folder, error));
    if (data === undefined) continue;
    devices.set(name, data);
    found.add(data, folder);
    const published = join(root, 'publish', name);
    for (const podUID of await found.namesIn(published)) {
      if (podUIDs.has(podUID)) found.add(data, join(published, podUID), podUID);
    }
  }
  return devices;
}

/**
 * Undefined also where nobody can say; then that is noted. A folder in which nothing was begun is of no volume. The mount in it is not looked at: it
 * may hang.
 */
async function dataOf(
  folder: string,
  found: Findings,
  mounter: Pick<Mounter, 'mountsBelow'>,
): Promise<LoadedVolumeData | undefined> {
  try {
    const data = await loadVolumeData(folder);
    if (data !== undefined) return data;
    const [mounted] = await mounter.mountsBelow(folder);
    if (mounted !== undefined) throw new Error(`${mounted} is mounted, and no file says by which driver`);
  } catch (error) {
    found.note(folder, error);
  }
  return undefined;
}

async function readNames(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(ifCode('ENOENT', 'ENOTDIR'))) ?? [];
}
