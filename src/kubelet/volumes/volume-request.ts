import type { Pod } from '../../api/json/types.ts';
import type { AtomicWriter } from '../files/atomic-writer.ts';
import type { ShownFields } from './downward-api.ts';
import type { PodFileBytes } from './file-bytes.ts';
import type { MountObjects } from './mount-objects.ts';
import type { MountedVolume, SpecVolume } from './pod-volumes.ts';
import type { VolumeParts } from './volume-manager-options.ts';

/** What a type of volume is told of one volume. */
export interface VolumeRequest {
  readonly pod: Pod;
  readonly volume: SpecVolume;
  /** The folder of the pod's volumes. */
  readonly volumesFolder: string;
  readonly parts: VolumeParts;
  /** Counts what the files of the pod's volumes take in memory. */
  readonly memory: PodFileBytes;
  /** What all volumes of the pod show of it. */
  readonly fields: ShownFields;
  readonly fsGroup: number | undefined;
  readonly fsUser: number | undefined;
  readonly signal: AbortSignal;
  /** Makes the call once there is room: so many volumes are written at once, and namespaces and pods take turns. */
  inTurn(write: () => Promise<void>): Promise<void>;
  /** The one writer of a folder. */
  writerOf(folder: string): AtomicWriter;
}

/** What a volume of files is told. */
export interface FilesRequest extends VolumeRequest {
  /** What the files are made from, each object read once. */
  readonly objects: MountObjects;
}

/** Makes one volume ready, or sees that it is. */
export type MountVolume = (request: VolumeRequest) => Promise<MountedVolume>;
