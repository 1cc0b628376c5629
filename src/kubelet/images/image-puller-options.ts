import type { SteadyClock } from '../../base/clock.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';
import type { ImageCredentialPlugins } from './image-credential-plugins.ts';
import type { NodeCredentials } from './node-credentials.ts';

/**
 * When a pod must show credentials for an image that the node has: for one that the node has pulled (`NeverVerifyPreloadedImages`),
 * for each (`AlwaysVerify`), or for none (`NeverVerify`).
 */
export type CredentialVerification = 'NeverVerifyPreloadedImages' | 'AlwaysVerify' | 'NeverVerify';

export interface ImagePullerOptions {
  readonly runtime: Pick<ContainerRuntime, 'imageStatus' | 'pullImage'>;
  /** The folder where it is kept which images were pulled, and with whose credentials. Undefined: nothing outlives the process. */
  readonly recordsDirectory: string | undefined;
  /** So many images are pulled at once. 1: one after another. */
  readonly maxParallelImagePulls: number;
  readonly credentialVerification: CredentialVerification;
  /** What the node itself has for registries. Default: nothing. */
  readonly nodeCredentials?: Pick<NodeCredentials, 'for'> | undefined;
  /** The plugins that give credentials for images. Default: none. */
  readonly credentialPlugins?: Pick<ImageCredentialPlugins, 'for'> | undefined;
  /** Gets the events Pulling, Pulled, BackOff, Failed, InspectFailed and ErrImageNeverPull. */
  readonly eventRecorder: EventRecorder;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** Why a container has no image, as its status says while it waits. */
export type ImageErrorReason =
  | 'ErrImagePull'
  | 'ImagePullBackOff'
  | 'ErrImageNeverPull'
  | 'InvalidImageName'
  | 'ImageInspectError'
  | 'RegistryUnavailable'
  | 'SignatureValidationFailed';

/** An image that cannot be had. `message` is for people, in the kubelet's words. */
export class ImageError extends Error {
  /** Why, in one word. */
  readonly reason: ImageErrorReason;
  /** When the next pull is due, in milliseconds since the epoch; undefined where nobody says. */
  readonly until: number | undefined;

  constructor(reason: ImageErrorReason, message: string, options: { readonly until?: number; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'ImageError';
    this.reason = reason;
    this.until = options.until;
  }
}
