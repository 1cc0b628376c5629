// Behaviour of FsUserFrom and GetPodVolumeNames in pkg/volume/util, v1.36.3.

import type { Pod } from '../../api/json/types.ts';

type Spec = NonNullable<Pod['spec']>;
type AnyContainer = Pick<Spec['containers'][number], 'volumeMounts' | 'volumeDevices' | 'securityContext'>;

/** The containers of every sort. */
export function containersOfPod({ spec }: Pod): readonly AnyContainer[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? []), ...(spec?.ephemeralContainers ?? [])];
}

/** The user that every container runs as; undefined where one does not say, or two differ. */
export function fsUserOf(pod: Pod): number | undefined {
  const podUser = pod.spec?.securityContext?.runAsUser ?? undefined;
  const users = new Set(containersOfPod(pod).map(({ securityContext }) => securityContext?.runAsUser ?? podUser));
  return users.size === 1 ? [...users][0] : undefined;
}

/** The names of the volumes that a container uses. */
export function usedVolumes(pod: Pod): ReadonlySet<string> {
  return new Set(
    containersOfPod(pod).flatMap(({ volumeMounts, volumeDevices }) =>
      [...(volumeMounts ?? []), ...(volumeDevices ?? [])].map(({ name }) => name),
    ),
  );
}
