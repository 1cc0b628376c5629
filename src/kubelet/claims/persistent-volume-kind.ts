import type { WirePersistentVolume, WirePersistentVolumeClaim } from '../../api/json/types.ts';
import type { DriverVolumeRequest } from '../volumes/driver-volumes.ts';
import type { MountedVolume } from '../volumes/pod-folder.ts';

/** A volume of a pod that is claimed: the claim is bound to the persistent volume, and both say so. */
export interface PersistentVolumeRequest extends DriverVolumeRequest {
  /**
   * As the apiserver had it at most 10 s ago; while it cannot be read, as it was when the volume was mounted. Of its metadata it has names, uid,
   * version and annotations of `volume.kubernetes.io`, and its spec has no selector and no data source.
   */
  readonly claim: WirePersistentVolumeClaim;
  /** The same of the persistent volume, whose name is a DNS subdomain. It lacks `managedFields` alone. */
  readonly persistentVolume: WirePersistentVolume & { readonly metadata: { readonly name: string } };
  /** What the pod says of its claim. What the persistent volume's source says of itself is in the source. */
  readonly readOnly: boolean;
  /** True: containers get a device. False: they get the files of a file system. */
  readonly isBlock: boolean;
  /** Of the persistent volume, each once and in order. */
  readonly mountOptions: readonly string[];
  /** The folder of the pod's block devices: `pods/UID/volumeDevices`. */
  readonly devicesFolder: string;
}

/** How full a volume is. What is not known is absent. */
export interface VolumeUsage {
  readonly capacityBytes?: number;
  readonly availableBytes?: number;
  readonly usedBytes?: number;
  readonly inodes?: number;
  readonly inodesFree?: number;
  readonly inodesUsed?: number;
}

/** Where a pod's volumes and devices are. */
export interface PodVolumeFolders {
  /** `pods/UID/volumes`. */
  readonly volumesFolder: string;
  /** `pods/UID/volumeDevices`. */
  readonly devicesFolder: string;
}

/**
 * Makes the volumes of one kind of persistent volume. The calls for one pod come one after another, those of `mount` side by side; those of two
 * pods may be for the same persistent volume at once.
 */
export interface PersistentVolumeKind {
  /** False: a persistent volume with mount options is refused. */
  readonly takesMountOptions: boolean;
  /** False: block devices are refused. */
  readonly takesBlock: boolean;
  /**
   * Makes one volume ready, or sees that it is. It is called at each sync of the pod. Rejects with a `VolumeStepError`, or with another error, whose
   * text then stands behind `MountVolume.SetUp` or `MapVolume.MapPodDevice`.
   */
  mount(request: PersistentVolumeRequest): Promise<MountedVolume>;
  /**
   * Takes back all volumes of this kind that a pod has, by what is on disk, under the kubelet's names. It deletes nothing that is in a volume.
   * Rejects where it is not sure.
   */
  unmount(podUID: string, folders: PodVolumeFolders): Promise<void>;
  /** The names of the persistent volumes of this kind that a pod has something of on disk. One that cannot be told apart counts. */
  volumesOnDisk(folders: PodVolumeFolders): Promise<readonly string[]>;
  /** How full a volume is that it has mounted. Without it nobody is told. A failure is no trouble: it is asked again. */
  measure?(
    volume: Pick<PersistentVolumeRequest, 'claim' | 'persistentVolume' | 'isBlock'> & { readonly mounted: MountedVolume },
  ): Promise<VolumeUsage | undefined>;
}
