// Names of pkg/volume/csi and of GetUniqueVolumeName in pkg/volume/util, v1.36.3.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { V1PersistentVolume } from '@kubernetes/client-node';
import type { Wire } from '../../api/json/types.ts';
import { isDnsSubdomain } from '../../base/names.ts';

/** A volume of a driver, which several pods of a node may use at once. */
export interface CsiVolumeID {
  readonly driverName: string;
  /** The volume's id, as the driver has it. */
  readonly volumeHandle: string;
}

type CsiSource = NonNullable<NonNullable<Wire<V1PersistentVolume>['spec']>['csi']>;

const pluginName = 'kubernetes.io/csi';

/** As the node's status names the volume. */
export function uniqueVolumeName({ driverName, volumeHandle }: CsiVolumeID): string {
  return `${pluginName}/${driverName}^${volumeHandle}`;
}

/** The folder in which what the node has of drivers' volumes lies, one folder a driver. */
export function stagingRoot(rootDirectory: string): string {
  return join(rootDirectory, 'plugins', pluginName);
}

/** The folder of a volume that is made ready once for the node. */
export function stagingFolder(rootDirectory: string, { driverName, volumeHandle }: CsiVolumeID): string {
  return join(stagingRoot(rootDirectory), driverName, handleHash(volumeHandle));
}

export function handleHash(volumeHandle: string): string {
  return createHash('sha256').update(volumeHandle).digest('hex');
}

/** The folder that the driver makes the volume ready at. */
export function globalMount(folder: string): string {
  return join(folder, 'globalmount');
}

/** The volume that a PersistentVolume of a driver is. Throws where its names are none that fit in paths. */
export function volumeOf(source: CsiSource): CsiVolumeID {
  const { driver, volumeHandle } = source;
  if (!isDnsSubdomain(driver)) throw new Error(`the name of the CSI driver is no DNS subdomain: ${JSON.stringify(driver)}`);
  if (!volumeHandle) throw new Error('the PersistentVolume has no volumeHandle');
  return { driverName: driver, volumeHandle };
}
