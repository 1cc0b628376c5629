import type { Pod } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import { errorText } from '../../base/errors.ts';
import { isPathSegment } from '../../base/options.ts';

/** Why a container waits, as its status says it: what it is made from cannot be put together. */
export type ConfigErrorReason = 'CreateContainerConfigError' | 'CreateContainerError' | 'RunContainerError';

/** A message is told in events and in the status, and may name what a pod's author wrote. */
const longestMessage = 4096;

/**
 * A sandbox or a container cannot be made from what the pod says. `message` is for people, as the kubelet writes it, and
 * shortened to 4,096 characters; `reason` is the container's waiting reason.
 */
export class ContainerConfigError extends Error {
  /** The waiting reason of the container. */
  readonly reason: ConfigErrorReason;

  constructor(message: string, options?: ErrorOptions & { readonly reason?: ConfigErrorReason }) {
    super(message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message, options);
    this.name = 'ContainerConfigError';
    this.reason = options?.reason ?? 'CreateContainerConfigError';
  }
}

/** The same error where it is one of ours; else one with the same message. */
export function asConfigError(error: unknown, say: (message: string) => string = (message) => message): ContainerConfigError {
  if (error instanceof ContainerConfigError) return error;
  return new ContainerConfigError(say(errorText(error)), { cause: error });
}

/** Throws {@link ContainerConfigError} for a pod that asks for what this agent has not: it would run with other rights than it says. */
export function requireSupportedPod({ metadata, spec }: Pod): void {
  for (const [field, text] of Object.entries({ name: metadata?.name, namespace: metadata?.namespace, uid: metadata?.uid })) {
    // they become names of folders
    if (!isPathSegment(text))
      throw new ContainerConfigError(`the pod's ${field} is no name of a folder: ${JSON.stringify(text ?? '')}`);
  }
  if (spec?.hostUsers === false) {
    throw new ContainerConfigError('this agent has no user namespaces, and the pod asks for one with hostUsers: false');
  }
  if (spec?.resourceClaims?.length) {
    throw new ContainerConfigError('this agent has no dynamic resource allocation, and the pod has resourceClaims');
  }
}

/** The same for a container. */
export function requireSupportedContainer({ name, volumeDevices }: Container): void {
  if (!isPathSegment(name))
    throw new ContainerConfigError(`the container's name is no name of a folder: ${JSON.stringify(name)}`);
  const [device] = volumeDevices ?? [];
  if (device !== undefined) {
    throw new ContainerConfigError(
      `cannot find volume ${JSON.stringify(device.name)} to pass into container ${JSON.stringify(name)}`,
    );
  }
}
