// Behaviour of pkg/volume/csi/csi_block.go, v1.36.3.

import { lstat, readdir, realpath, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ifCode } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';
import { makeFolders } from '../../node/files/make-folders.ts';
import { type DeviceMap, linkDevice, mapDevice, releaseDeviceMap, removeDeviceLink } from '../claims/device-map.ts';
import type { Mounter } from '../volumes/mounter.ts';
import type { CsiDriverOnNode, CsiDrivers } from './csi-drivers.ts';
import type { PublishVolumeRequest, StageVolumeRequest } from './csi-node.ts';
import { callErrorOf, driverError, isUnknownVolume, registeredDriver } from './driver-calls.ts';
import { loadVolumeData, removeVolumeFolder, saveDeviceData, unsureVolume, type VolumeData } from './volume-data.ts';
import { type CsiVolumeID, stagingRoot } from './volume-ids.ts';
import { devicesFolder } from './volumes-on-disk.ts';

export interface BlockDevicesOptions {
  readonly drivers: Pick<CsiDrivers, 'driver'>;
  /** As it was given: the paths that drivers are told are below it. */
  readonly rootDirectory: string;
  readonly mounter: Mounter;
}

/** What a driver is asked for. */
export interface DeviceOrder {
  readonly onNode: CsiDriverOnNode;
  readonly data: VolumeData;
  readonly podUID: string;
  /** The symbolic link that containers get the device by. */
  readonly podLink: string;
  /** Undefined for a driver without that step. */
  readonly stage: Omit<StageVolumeRequest, 'volumeID' | 'stagingTargetPath'> | undefined;
  readonly publish: Omit<PublishVolumeRequest, 'volumeID' | 'stagingTargetPath' | 'targetPath'>;
}

/** Where a device's things are, by the name of its PersistentVolume. */
interface Places {
  /** Where its driver makes it ready for the node. */
  readonly staging: string;
  /** In which its driver makes it ready for pods, each under its uid. */
  readonly publishFolder: string;
  /** Where the kubelet keeps what it is. */
  readonly folder: string;
}

const folderMode = 0o750;

/** PersistentVolumes of drivers as block devices. The calls for one volume come one after another. */
export class BlockDevices {
  readonly #options: BlockDevicesOptions;
  /** The names of those that this process has had made ready for the node. */
  readonly #staged = new Set<string>();
  /** What this process has asked drivers for, by the names: until it is gone. */
  readonly #volumes = new Map<string, CsiVolumeID>();

  constructor(options: BlockDevicesOptions) {
    this.#options = options;
  }

  stagingPath(name: string): string {
    return this.#places(name).staging;
  }

  /** Where the driver makes the device ready for the pod. */
  publishPath(name: string, podUID: string): string {
    return join(this.#places(name).publishFolder, podUID);
  }

  /** Where the device is shown for the pod, beside its link. */
  shownPath(name: string, podUID: string): string {
    return join(this.#places(name).folder, 'dev', podUID);
  }

  /** Has the driver make the device ready for the node. What it refuses for good leaves nothing. */
  async stage({ onNode, data, stage }: DeviceOrder): Promise<void> {
    const { specVolID: name, volumeHandle, driverName } = data;
    const { staging, folder } = this.#places(name);
    const dataFolder = join(folder, 'data');
    const known = await this.#known(name);
    if (known !== undefined && (known.driverName !== driverName || known.volumeHandle !== volumeHandle)) {
      throw new Error(`the place of the device ${name} is that of another volume, of the driver ${known.driverName}`);
    }
    await makeFolders(dataFolder, folderMode);
    await saveDeviceData(dataFolder, data);
    this.#volumes.set(name, { driverName, volumeHandle });
    if (stage === undefined || this.#staged.has(name)) return;
    await makeFolders(staging, folderMode);
    try {
      await onNode.node.stageVolume({ ...stage, volumeID: volumeHandle, stagingTargetPath: staging, block: true });
    } catch (error) {
      if (known === undefined && callErrorOf(error)?.isFinal) await this.#remove(name).catch(ignoreFailure);
      throw driverError(driverName, error);
    }
    this.#staged.add(name);
  }

  /** Has the driver make the device ready for the pod, and shows it there. The link is there first: by it the pod's end finds what to take back. */
  async publish({ onNode, data, podUID, podLink, publish }: DeviceOrder): Promise<void> {
    const { specVolID: name, volumeHandle, driverName } = data;
    const { staging, publishFolder } = this.#places(name);
    const targetPath = this.publishPath(name, podUID);
    await linkDevice(targetPath, podLink);
    await makeFolders(publishFolder, folderMode);
    const request = { ...publish, volumeID: volumeHandle, stagingTargetPath: staging, targetPath, block: true };
    await onNode.node.publishVolume(request).catch((error: unknown) => {
      throw driverError(driverName, error);
    });
    await mapDevice(targetPath, { ...(await this.#map(name, podUID)), podLink });
  }

  /** Has the driver take the device from the pod. The link goes last. Rejects where something is left. */
  async unpublish(name: string, podUID: string, podLink: string, volume: CsiVolumeID): Promise<void> {
    const targetPath = this.publishPath(name, podUID);
    const { node } = registeredDriver(this.#options.drivers, volume.driverName);
    await releaseDeviceMap(await this.#map(name, podUID));
    await node.unpublishVolume(volume.volumeHandle, targetPath).catch((error: unknown) => {
      if (!isUnknownVolume(error)) throw driverError(volume.driverName, error);
    });
    const [mounted] = await this.#options.mounter.mountsBelow(targetPath);
    if (mounted !== undefined) throw new Error(`${mounted} is still mounted`);
    await removeEmptyFile(targetPath);
    await removeDeviceLink(podLink);
  }

  /**
   * Which volume a device is: by its file, or by what this process has asked for. Rejects where nobody can say. What the cluster says of the name now
   * counts for nothing: it may be another volume.
   */
  async dataOf(name: string): Promise<CsiVolumeID | undefined> {
    const own = this.#volumes.get(name);
    const data = await loadVolumeData(join(this.#places(name).folder, 'data')).catch(
      (cause: unknown) => own ?? unsureVolume(`the device ${name}`, cause),
    );
    return data ?? own;
  }

  /** Has the driver take the volume from the node, under each name that it is known by. Rejects while a pod may have the device. */
  async unstage(volume: CsiVolumeID): Promise<void> {
    const root = join(stagingRoot(this.#options.rootDirectory), devicesFolder);
    for (const name of (await readdir(root).catch(ifCode('ENOENT'))) ?? []) {
      if (name === 'staging' || name === 'publish') continue;
      const data = await this.dataOf(name);
      if (data?.driverName === volume.driverName && data.volumeHandle === volume.volumeHandle) await this.#unstage(name, volume);
    }
  }

  /** Rejects where something is mounted of which nobody can say what it is. Without a mount no pod has what a damaged file was of. */
  async #known(name: string): Promise<CsiVolumeID | undefined> {
    const { staging, publishFolder, folder } = this.#places(name);
    const mounts = await Promise.all([staging, publishFolder, folder].map((place) => this.#options.mounter.mountsBelow(place)));
    const [mounted] = mounts.flat();
    if (mounted === undefined) return loadVolumeData(join(folder, 'data')).catch(() => undefined);
    return (
      (await this.dataOf(name)) ??
      unsureVolume(`the device ${name}`, new Error(`${mounted} is mounted, and no file says by which driver`))
    );
  }

  async #unstage(name: string, { driverName, volumeHandle }: CsiVolumeID): Promise<void> {
    const { staging, publishFolder } = this.#places(name);
    const [podUID] = (await readdir(publishFolder).catch(ifCode('ENOENT'))) ?? [];
    if (podUID !== undefined) throw new Error(`${join(publishFolder, podUID)} is still there, of a pod that is gone`);
    this.#staged.delete(name);
    if ((await lstat(staging).catch(ifCode('ENOENT'))) !== undefined) {
      const driver = registeredDriver(this.#options.drivers, driverName);
      try {
        if ((await driver.capabilities()).has('STAGE_UNSTAGE_VOLUME')) await driver.node.unstageVolume(volumeHandle, staging);
      } catch (error) {
        if (!isUnknownVolume(error)) throw driverError(driverName, error);
      }
    }
    await this.#remove(name);
  }

  /** Folders alone, and what says what the device is. Rejects where something else is left. */
  async #remove(name: string): Promise<void> {
    const { staging, publishFolder, folder } = this.#places(name);
    for (const place of [staging, publishFolder, folder]) {
      const [mounted] = await this.#options.mounter.mountsBelow(place);
      if (mounted !== undefined) throw new Error(`${mounted} is still mounted`);
    }
    for (const place of [staging, publishFolder, join(folder, 'dev')]) await rmdir(place).catch(ifCode('ENOENT'));
    const dataFolder = join(folder, 'data');
    await removeVolumeFolder(dataFolder);
    await rmdir(folder).catch(ifCode('ENOENT'));
    this.#volumes.delete(name);
  }

  /** The kernel lists mounts by paths without symbolic links. */
  async #map(name: string, podUID: string): Promise<Omit<DeviceMap, 'podLink'>> {
    const { rootDirectory, mounter } = this.#options;
    const globalFolder = join(stagingRoot(await realpath(rootDirectory)), devicesFolder, name, 'dev');
    return { mounter, globalFolder, podUID };
  }

  #places(name: string): Places {
    const root = join(stagingRoot(this.#options.rootDirectory), devicesFolder);
    return { staging: join(root, 'staging', name), publishFolder: join(root, 'publish', name), folder: join(root, name) };
  }
}

/** What a driver should have removed itself. Anything with something in it stays. */
async function removeEmptyFile(path: string): Promise<void> {
  const found = await lstat(path).catch(ifCode('ENOENT', 'ENOTDIR'));
  if (found === undefined) return;
  if (!found.isFile() || found.size > 0) throw new Error(`${path} is no empty file`);
  await unlink(path);
}
