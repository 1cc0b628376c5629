import { checkedHostPath } from '../volumes/host-path.ts';
import type { PersistentVolumeKind } from './persistent-volume-kind.ts';

/** PersistentVolumes of type `hostPath`: the path is used as it is, and nothing is mounted. */
export const hostPathClaims: PersistentVolumeKind = {
  takesMountOptions: false,
  takesBlock: false,
  async mount({ volume, persistentVolume, readOnly }) {
    const hostPath = await checkedHostPath(persistentVolume.spec?.hostPath ?? {});
    return { name: volume.name, type: 'persistentVolumeClaim', hostPath, readonly: readOnly, selinuxRelabel: false };
  },
  async unmount() {},
  volumesOnDisk: async () => [],
};
