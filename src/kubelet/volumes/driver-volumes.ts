import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../api/json/types.ts';
import type { SpecVolume } from '../../api/pod/pod-containers.ts';
import { ifCode } from '../../base/errors.ts';
import { driverVolumesFolder, type MountedVolume } from './pod-folder.ts';

/** A volume of a pod that a storage driver is to make. */
export interface DriverVolumeRequest {
  /** The pod that it is for. */
  readonly pod: Pod;
  /** The volume as the pod's spec has it. */
  readonly volume: SpecVolume;
  /** The folder of the pod's volumes: `pods/UID/volumes`. */
  readonly volumesFolder: string;
  /** The group that its files are to belong to. */
  readonly fsGroup: number | undefined;
  /** Aborts where the pod is to end. */
  readonly signal: AbortSignal;
}

/** Makes the volumes of storage drivers. The calls for one pod come one after another, those of `mount` side by side. */
export interface DriverVolumes {
  /** Makes one volume ready, or sees that it is. */
  mount(request: DriverVolumeRequest): Promise<MountedVolume>;
  /**
   * Has the drivers take back what they have made in the folder of a pod's volumes, and removes what is left of it, by what is on disk. Rejects
   * where that is not sure; then nothing of that volume is deleted.
   */
  unmount(podUID: string, volumesFolder: string): Promise<void>;
}

/** For an agent that speaks with no drivers: rejects where an earlier one has left volumes of them, which nobody else can take back. */
export async function requireNoDriverVolumes(volumesFolder: string): Promise<void> {
  const left = (await readdir(join(volumesFolder, driverVolumesFolder)).catch(ifCode('ENOENT', 'ENOTDIR'))) ?? [];
  if (left.length === 0) return;
  const names = left.slice(0, 5).join(', ');
  throw new Error(
    `volumes of storage drivers are not taken back: ${names}. This agent speaks with no plugins (the option plugins)`,
  );
}
