import type { WireContainerStatus } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';

/**
 * What a status says of the volume mounts of a container that is not there yet. Recursive read-only mounts are never said to
 * be had: whether the runtime can make them is not known here. Undefined for a container without mounts.
 */
export function volumeMountStatuses({ volumeMounts }: Container): WireContainerStatus['volumeMounts'] {
  if (!volumeMounts?.length) return undefined;
  return volumeMounts.map(({ name, mountPath, readOnly }) =>
    readOnly ? { name, mountPath, readOnly, recursiveReadOnly: 'Disabled' } : { name, mountPath },
  );
}
