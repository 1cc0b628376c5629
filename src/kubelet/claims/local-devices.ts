// Behaviour of the device mounter in pkg/volume/local, v1.36.3.

import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolders } from '../../node/files/make-folders.ts';
import { volumeStepError } from '../volumes/driver-volumes.ts';
import type { Mounter } from '../volumes/mounter.ts';
import { driverVolumesIn, podFolder, podsOnDisk } from '../volumes/pod-folder.ts';
import { unmountAndRemove } from './claim-folders.ts';
import type { PersistentVolumeRequest } from './persistent-volume-kind.ts';

/** The folder of local volumes in those of a pod. */
export const localVolumeType = 'kubernetes.io~local-volume';
const defaultType = 'ext4';

/** File systems on block devices of the node. Each is mounted once for all pods, in the kubelet's folder. Calls for one volume come one after another. */
export class LocalDevices {
  readonly #rootDirectory: string;
  readonly #mounter: Mounter;

  constructor(rootDirectory: string, mounter: Mounter) {
    this.#rootDirectory = rootDirectory;
    this.#mounter = mounter;
  }

  /** Resolves with the folder that the file system is at. */
  async mount(device: string, { persistentVolume, mountOptions, readOnly, signal }: PersistentVolumeRequest): Promise<string> {
    const { name } = persistentVolume.metadata;
    const type = persistentVolume.spec?.local?.fsType || defaultType;
    const parent = await this.#parent();
    const folder = join(parent, name);
    if ((await this.#mounter.mountsBelow(parent)).includes(folder)) return folder;
    try {
      await this.#mounter.prepareFileSystem(device, type, { readonly: readOnly }, signal);
      await makeFolders(folder, 0o750);
      const options = [...mountOptions, ...(readOnly ? ['ro'] : [])];
      await this.#mounter.mount(device, folder, { type, options }, signal);
    } catch (cause) {
      signal.throwIfAborted();
      throw volumeStepError('FailedMount', 'MountVolume.MountDevice', name, cause);
    }
    return folder;
  }

  /** Unmounts it once no other pod has a folder for it. */
  async release(name: string, podUID: string): Promise<void> {
    const parent = await this.#parent();
    const folder = join(parent, name);
    if (!(await this.#mounter.mountsBelow(parent)).includes(folder)) return;
    for (const other of await podsOnDisk(this.#rootDirectory)) {
      if (other !== podUID && (await driverVolumesIn(podFolder(this.#rootDirectory, other), localVolumeType)).includes(name))
        return;
    }
    await unmountAndRemove(folder, parent, this.#mounter);
  }

  async #parent(): Promise<string> {
    return join(await realpath(this.#rootDirectory), 'plugins/kubernetes.io/local-volume/mounts');
  }
}
