// Behaviour of makeBlockVolumes in pkg/kubelet/kubelet_pods.go, v1.36.3.

import type { Container } from '../../api/pod/pod-containers.ts';
import { ContainerConfigError } from '../../node/environment/config-error.ts';
import type { Device } from '../runtime/runtime-containers.ts';
import type { PodVolumes } from '../volumes/pod-folder.ts';

/** The block devices that a container gets of its pod's volumes. Throws {@link ContainerConfigError}. */
export function containerDevices(
  { name, volumeDevices }: Pick<Container, 'name' | 'volumeDevices'>,
  volumes: PodVolumes,
): readonly Device[] {
  return (volumeDevices ?? []).map((device) => {
    const { devicePath: containerPath } = device;
    if (!containerPath.startsWith('/')) {
      throw new ContainerConfigError(`error DevicePath \`${containerPath}\` must be an absolute path`);
    }
    const volume = volumes.get(device.name);
    if (volume?.devicePath === undefined) {
      throw new ContainerConfigError(
        `cannot find volume ${JSON.stringify(device.name)} to pass into container ${JSON.stringify(name)}`,
      );
    }
    return { containerPath, hostPath: volume.devicePath, permissions: volume.readonly ? 'r' : 'mrw' };
  });
}
