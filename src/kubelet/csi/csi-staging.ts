// Behaviour of MountDevice and UnmountDevice in pkg/volume/csi/csi_attacher.go, v1.36.3.

import { basename } from 'node:path';
import { errorText } from '../../base/errors.ts';
import { ignoreFailure } from '../../base/guard.ts';
import { makeFolders } from '../../node/files/make-folders.ts';
import type { Mounter } from '../volumes/mounter.ts';
import type { CsiDriverOnNode, CsiDrivers } from './csi-drivers.ts';
import type { StageVolumeRequest } from './csi-node.ts';
import { callErrorOf, driverError, isUnknownVolume, registeredDriver } from './driver-calls.ts';
import { loadVolumeData, removeVolumeFolder, saveStageData } from './volume-data.ts';
import { type CsiVolumeID, globalMount, handleHash, stagingFolder, uniqueVolumeName } from './volume-ids.ts';

export interface CsiStagingOptions {
  readonly drivers: Pick<CsiDrivers, 'driver'>;
  /** As it was given: the paths that drivers are told are below it. */
  readonly rootDirectory: string;
  readonly mounter: Pick<Mounter, 'mountsBelow'>;
}

/** Volumes that their drivers have made ready for the node, each once for all its pods. The calls for one volume come one after another. */
export class CsiStaging {
  readonly #options: CsiStagingOptions;
  /** What this process has had made ready, by the unique name. */
  readonly #staged = new Set<string>();
  /** Of which volumes this process has asked a driver first. */
  readonly #begun = new Set<string>();

  constructor(options: CsiStagingOptions) {
    this.#options = options;
  }

  /** The path that the driver makes the volume ready at. */
  pathOf(volume: CsiVolumeID): string {
    return globalMount(stagingFolder(this.#options.rootDirectory, volume));
  }

  /**
   * Sees that the volume is ready for the node. An earlier process' volume is asked for once more, which changes nothing for a driver. What a driver
   * has refused for good leaves nothing; what nobody knows the end of stays until the driver has taken it back.
   */
  async stage(
    volume: CsiVolumeID,
    { node }: Pick<CsiDriverOnNode, 'node'>,
    call: Omit<StageVolumeRequest, 'volumeID' | 'stagingTargetPath'>,
  ): Promise<void> {
    const name = uniqueVolumeName(volume);
    if (this.#staged.has(name)) return;
    const folder = stagingFolder(this.#options.rootDirectory, volume);
    await makeFolders(globalMount(folder), 0o750);
    const isOwn = await this.#isOwn(name, folder);
    await saveStageData(folder, volume);
    try {
      await node.stageVolume({ ...call, volumeID: volume.volumeHandle, stagingTargetPath: globalMount(folder) });
    } catch (error) {
      if (isOwn && callErrorOf(error)?.isFinal) await this.#forget(name, folder).catch(ignoreFailure);
      throw driverError(volume.driverName, error);
    }
    this.#staged.add(name);
  }

  /** Has the driver take the volume from the node, by what is on disk. Rejects where that is not sure; then nothing is deleted. */
  async unstage(volume: CsiVolumeID): Promise<void> {
    const name = uniqueVolumeName(volume);
    const folder = stagingFolder(this.#options.rootDirectory, volume);
    this.#staged.delete(name);
    const data = await loadVolumeData(folder);
    if (data !== undefined) await this.#ask(data, folder);
    await this.#forget(name, folder);
  }

  async #ask(data: CsiVolumeID, folder: string): Promise<void> {
    const { driverName, volumeHandle } = data;
    if (handleHash(volumeHandle) !== basename(folder)) throw new Error(`the file in ${folder} is of another volume`);
    const driver = registeredDriver(this.#options.drivers, driverName);
    try {
      if (!(await driver.capabilities()).has('STAGE_UNSTAGE_VOLUME')) return;
      await driver.node.unstageVolume(volumeHandle, globalMount(folder));
    } catch (error) {
      if (!isUnknownVolume(error)) throw driverError(driverName, error);
    }
  }

  /** False for a volume that an earlier process may have had made ready. */
  async #isOwn(name: string, folder: string): Promise<boolean> {
    if (this.#begun.has(name)) return true;
    const data = await loadVolumeData(folder).catch(ignoreFailure);
    if (data !== undefined || (await this.#options.mounter.mountsBelow(folder)).length > 0) return false;
    this.#begun.add(name);
    return true;
  }

  async #forget(name: string, folder: string): Promise<void> {
    const [mounted] = await this.#options.mounter.mountsBelow(folder);
    if (mounted !== undefined) throw new Error(`${mounted} is still mounted`);
    await removeVolumeFolder(folder, globalMount(folder)).catch((cause: unknown) => {
      throw new Error(`failed to clean up global mount ${folder}: ${errorText(cause)}`, { cause });
    });
    this.#begun.delete(name);
  }
}
