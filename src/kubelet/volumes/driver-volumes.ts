import { dirname } from 'node:path';
import { goQuote } from '../../api/json/go-quote.ts';
import type { Pod } from '../../api/json/types.ts';
import type { SpecVolume } from '../../api/pod/pod-containers.ts';
import { errorText } from '../../base/errors.ts';
import { driverVolumesIn, type MountedVolume } from './pod-folder.ts';

/** The reasons of a kubelet's events for a volume that is not ready. */
export type VolumeFailureReason = 'FailedMount' | 'FailedMapVolume' | 'FailedAttachVolume';

/** A volume is not ready. The message is that of the kubelet's event, and whole. */
export class VolumeStepError extends Error {
  readonly reason: VolumeFailureReason;

  constructor(reason: VolumeFailureReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'VolumeStepError';
    this.reason = reason;
  }
}

/** A step of the kubelet has failed, such as `MountVolume.SetUp`. `volume` is the name of the PersistentVolume where there is one. */
export function volumeStepError(reason: VolumeFailureReason, step: string, volume: string, cause: unknown): VolumeStepError {
  return new VolumeStepError(reason, `${step} failed for volume ${goQuote(volume)} : ${errorText(cause)}`, { cause });
}

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
   * Has the drivers take back what they have made in the folder of a pod's volumes, and beside it in `volumeDevices`, and removes what is left of
   * it, by what is on disk. Rejects where that is not sure; then nothing of that volume is deleted.
   */
  unmount(podUID: string, volumesFolder: string): Promise<void>;
}

/**
 * For an agent that speaks with no drivers: rejects where an earlier one has left volumes of them, which nobody else can take back. `only` is the
 * folder of their type; without it all volumes count that are not the agent's own.
 */
export async function requireNoDriverVolumes(volumesFolder: string, only?: string): Promise<void> {
  const left = await driverVolumesIn(dirname(volumesFolder), only);
  if (left.length === 0) return;
  const names = left.slice(0, 5).join(', ');
  throw new Error(
    `volumes of storage drivers are not taken back: ${names}. This agent speaks with no plugins (the option plugins)`,
  );
}
