import type { Pod } from '../../api/json/types.ts';
import type { SpecVolume } from '../../api/pod/pod-containers.ts';
import type { AtomicWriter } from '../../node/files/atomic-writer.ts';
import type { PodFileBytes } from '../../node/pod-files/file-bytes.ts';
import type { ShownFields } from '../../node/pod-files/shown-fields.ts';
import type { MountedVolume } from './pod-folder.ts';
import type { ResolvedVolumeOptions } from './volume-manager-options.ts';

/** What a type of volume is told of one volume. */
export interface VolumeRequest {
  readonly pod: Pod;
  readonly volume: SpecVolume;
  /** The folder of the pod's volumes. */
  readonly volumesFolder: string;
  readonly options: ResolvedVolumeOptions;
  /** Counts what the files of the pod's volumes take in memory. */
  readonly memory: PodFileBytes;
  /** What all volumes of the pod show of it. */
  readonly fields: ShownFields;
  readonly fsGroup: number | undefined;
  readonly fsUser: number | undefined;
  readonly signal: AbortSignal;
  /** Makes the call once there is room: so many volumes are written at once, and namespaces and pods take turns. */
  inTurn(write: () => Promise<void>): Promise<void>;
  writerOf(folder: string): AtomicWriter;
}

/** Makes one volume ready, or sees that it is. */
export type MountVolume = (request: VolumeRequest) => Promise<MountedVolume>;
