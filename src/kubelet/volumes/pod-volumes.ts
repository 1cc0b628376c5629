import type { Pod } from '../../api/json/types.ts';

/** A volume as a pod's spec has it. */
export type SpecVolume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number];

/** One volume of a pod, ready for its containers. */
export interface MountedVolume {
  /** The volume's name in the pod's spec. */
  readonly name: string;
  /** The volume's type, by the field that names it in the spec, such as `emptyDir`. */
  readonly type: string;
  /** The absolute path on the node; empty for an image volume. */
  readonly hostPath: string;
  /** True: no container may write. */
  readonly readonly: boolean;
  /** True: the runtime gives the files the container's SELinux label. */
  readonly selinuxRelabel: boolean;
  /** Of an image volume: the reference that pulling it gave. */
  readonly imageRef?: string;
}

/** The volumes of a pod by name. */
export type PodVolumes = ReadonlyMap<string, MountedVolume>;
