// Behaviour of NodeGetVolumeStats in pkg/volume/csi/csi_client.go and of pkg/volume/csi/csi_metrics.go, v1.36.3.

import type { VolumeUsage } from '../claims/persistent-volume-kind.ts';
import type { CsiDrivers } from './csi-drivers.ts';
import type { CsiVolumeUsage } from './csi-node.ts';
import type { CsiVolumeID } from './volume-ids.ts';

/** Asks a driver how full a volume is at a path; undefined for a driver that does not say. */
export async function measureVolume(
  drivers: Pick<CsiDrivers, 'driver'>,
  { driverName, volumeHandle }: CsiVolumeID,
  path: string,
): Promise<VolumeUsage | undefined> {
  const driver = drivers.driver(driverName);
  if (!(await driver.capabilities()).has('GET_VOLUME_STATS')) return undefined;
  const usages = await driver.node.getVolumeStats(volumeHandle, path);
  return Object.assign({}, ...usages.map(partOf));
}

function partOf({ unit, available, total, used }: CsiVolumeUsage): VolumeUsage {
  return unit === 'BYTES'
    ? { capacityBytes: total, availableBytes: available, usedBytes: used }
    : { inodes: total, inodesFree: available, inodesUsed: used };
}
