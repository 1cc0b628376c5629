// Behaviour of pkg/kubelet/kuberuntime/security_context_others.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import type { RuntimeImage } from '../runtime/runtime-images.ts';
import { ContainerConfigError } from './config-error.ts';

/** The user that an image names, by number or by name. */
export type ImageUser = Pick<RuntimeImage, 'uid' | 'username'>;

const largestUserID = 2 ** 31 - 1;

/** The numeric user of an image: 0 where it names none at all; undefined where it names one by its name. */
export function numericUser({ uid, username }: ImageUser): number | undefined {
  return uid ?? (username === '' ? 0 : undefined);
}

/** Throws {@link ContainerConfigError} for a container that must not run as root and would, or may. */
export function verifyRunAsNonRoot(pod: Pod, container: Container, image: ImageUser): void {
  const podContext = pod.spec?.securityContext;
  const own = container.securityContext;
  if ((own?.runAsNonRoot ?? podContext?.runAsNonRoot) !== true) return;
  const { name, namespace, uid: podUID } = pod.metadata ?? {};
  const who = `(pod: "${name ?? ''}_${namespace ?? ''}(${podUID ?? ''})", container: ${container.name})`;
  const user = own?.runAsUser ?? podContext?.runAsUser;
  if (user === 0) throw new ContainerConfigError(`container's runAsUser breaks non-root policy ${who}`);
  if (user !== undefined && user !== null) return;
  const uid = numericUser(image);
  if (uid === undefined) {
    const { username } = image;
    throw new ContainerConfigError(
      `container has runAsNonRoot and image has non-numeric user (${username}), cannot verify user is non-root ${who}`,
    );
  }
  if (uid === 0) throw new ContainerConfigError(`container has runAsNonRoot and image will run as root ${who}`);
  if (uid < 0 || uid > largestUserID) {
    throw new ContainerConfigError(
      `container has runAsNonRoot and image has an invalid user id (${uid}). (Must be 1-(${largestUserID})): must be between 0 and ${largestUserID}, inclusive ${who}`,
    );
  }
}
