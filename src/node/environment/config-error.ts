import { errorText } from '../../base/errors.ts';

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
