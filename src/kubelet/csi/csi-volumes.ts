// Behaviour of pkg/volume/csi/csi_mounter.go for volumes that live with their pod, v1.36.3.

import { basename, join } from 'node:path';
import { goQuote } from '../../api/json/go-quote.ts';
import { podUIDOf } from '../../api/pod/pod-identity.ts';
import { settledAtOnce } from '../../base/concurrency/aborts.ts';
import { errorText, throwAll } from '../../base/errors.ts';
import type { DriverVolumeRequest, DriverVolumes } from '../volumes/driver-volumes.ts';
import { driverVolumesFolder, type MountedVolume } from '../volumes/pod-folder.ts';
import type { CsiDriverObjects, WireCsiDriver } from './csi-driver-objects.ts';
import type { CsiDrivers } from './csi-drivers.ts';
import { capabilitiesOf, registeredDriver } from './driver-calls.ts';
import { type ContextSources, type InlineSource, inlineContext } from './publish-context.ts';
import type { PublishedVolumes, PublishOrder } from './published-volumes.ts';
import { attachmentID, ephemeralMode, inlineVolumeHandle, volumeFolders } from './volume-data.ts';

export interface CsiVolumesOptions extends ContextSources {
  readonly drivers: Pick<CsiDrivers, 'driver'>;
  readonly driverObjects: CsiDriverObjects;
  readonly published: PublishedVolumes;
  readonly nodeName: string;
}

const unmountsAtOnce = 8;

/** Volumes of storage drivers that live with their pod: `volumes[].csi`. */
export class CsiVolumes implements DriverVolumes {
  readonly #options: CsiVolumesOptions;

  constructor(options: CsiVolumesOptions) {
    this.#options = options;
  }

  async mount(request: DriverVolumeRequest): Promise<MountedVolume> {
    const { name, csi } = request.volume;
    const source: InlineSource = { driver: '', ...csi };
    const hostPath = await this.#options.published.ensure(request, { name, mode: ephemeralMode }, () =>
      this.#order(request, source),
    );
    const readonly = source.readOnly === true;
    return { name, type: 'csi', hostPath, readonly, selinuxRelabel: !readonly };
  }

  /** Takes those that are of a PersistentVolume for somebody else's. */
  async unmount(podUID: string, volumesFolder: string): Promise<void> {
    this.#options.published.forget(podUID);
    await unmountFolders(volumesFolder, async (folder) => {
      const data = await this.#options.published.dataOf(folder);
      if (data !== undefined && data.volumeLifecycleMode !== ephemeralMode) return;
      await this.#options.published.unpublish(podUID, folder, data);
    });
  }

  async #order(request: DriverVolumeRequest, source: InlineSource): Promise<PublishOrder> {
    const { pod, volume, fsGroup, signal } = request;
    const { nodeName, drivers, driverObjects } = this.#options;
    const { driver: driverName } = source;
    const onNode = registeredDriver(drivers, driverName);
    const driver = await driverObjects.requireMode(driverName, ephemeralMode, signal);
    const volumeHandle = inlineVolumeHandle(podUIDOf(pod), volume.name);
    const capabilities = await capabilitiesOf(onNode, driverName, signal);
    const context = await inlineContext(this.#options, request, source, driver);
    const appliesGroup = capabilities.has('VOLUME_MOUNT_GROUP');
    return {
      onNode,
      data: {
        attachmentID: attachmentID(volumeHandle, driverName, nodeName),
        ...{ driverName, nodeName, specVolID: volume.name, volumeHandle, volumeLifecycleMode: ephemeralMode },
      },
      call: {
        ...context,
        readonly: source.readOnly === true,
        accessMode: capabilities.has('SINGLE_NODE_MULTI_WRITER') ? 'SINGLE_NODE_MULTI_WRITER' : 'SINGLE_NODE_WRITER',
        ...(source.fsType && { fsType: source.fsType }),
        ...(appliesGroup && fsGroup !== undefined && { volumeMountGroup: String(fsGroup) }),
      },
      isForGroup: !appliesGroup && isForGroup(driver, source),
      requiresRepublish: driver.spec?.requiresRepublish === true,
    };
  }
}

/** Unmounts what is in the folder of drivers' volumes, several at once. Rejects with each that is not unmounted. */
export async function unmountFolders(volumesFolder: string, unmount: (folder: string) => Promise<void>): Promise<void> {
  const folders = await volumeFolders(join(volumesFolder, driverVolumesFolder));
  const results = await settledAtOnce(folders, unmountsAtOnce, unmount);
  const failures = results.flatMap((result, index) =>
    result.status === 'fulfilled'
      ? []
      : [
          new Error(
            `UnmountVolume.TearDown failed for volume ${goQuote(basename(folders[index] ?? ''))} : ${errorText(result.reason)}`,
          ),
        ],
  );
  throwAll(failures);
}

/** Whether the group of the pod is given to the files by the agent. A volume of a pod is its alone. */
function isForGroup({ spec }: WireCsiDriver, { readOnly, fsType }: InlineSource): boolean {
  const policy = spec?.fsGroupPolicy;
  if (readOnly === true || policy === 'None') return false;
  return policy === 'File' || Boolean(fsType);
}
