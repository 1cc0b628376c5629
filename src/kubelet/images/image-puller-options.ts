import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { type EventRecorder, noEvents, safeEventRecorder } from '../../client/events/event-recorder.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';

/**
 * When a pod must show credentials for an image that the node has: for one that the node has pulled (`NeverVerifyPreloadedImages`),
 * for each (`AlwaysVerify`), or for none (`NeverVerify`).
 */
export type CredentialVerification = 'NeverVerifyPreloadedImages' | 'AlwaysVerify' | 'NeverVerify';

/** How images are pulled. Only `runtime` is needed. */
export interface ImagePullerOptions {
  /** Has the images, and pulls them. */
  readonly runtime: Pick<ContainerRuntime, 'imageStatus' | 'pullImage'>;
  /** The folder where it is kept which images were pulled, and with whose credentials. Default: nothing outlives the process. */
  readonly recordsDirectory?: string | undefined;
  /** So many images are pulled at once. 1: one after another. Default 5. */
  readonly maxParallelImagePulls?: number;
  /** When a pod must show credentials for an image that the node has. Default `NeverVerifyPreloadedImages`. */
  readonly credentialVerification?: CredentialVerification;
  /** The wait after the first pull of an image for a pod that failed, in milliseconds; doubled by each further one. Default 10 000. */
  readonly backoffBaseMs?: number;
  /** The longest wait, in milliseconds. Default 300 000. */
  readonly backoffMaxMs?: number;
  /** Gets the events Pulling, Pulled, BackOff, Failed, InspectFailed and ErrImageNeverPull. Default: nobody. */
  readonly eventRecorder?: EventRecorder;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
}

export interface ResolvedImagePullerOptions {
  readonly runtime: ImagePullerOptions['runtime'];
  readonly recordsDirectory: string | undefined;
  readonly maxParallelImagePulls: number;
  readonly credentialVerification: CredentialVerification;
  readonly backoffBaseMs: number;
  readonly backoffMaxMs: number;
  readonly eventRecorder: EventRecorder;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** The options with their defaults. */
export function resolveImagePullerOptions(options: ImagePullerOptions): ResolvedImagePullerOptions {
  const { runtime, recordsDirectory, maxParallelImagePulls = 5, credentialVerification, logger } = options;
  const { backoffBaseMs = 10_000, backoffMaxMs = 300_000, eventRecorder = noEvents, clock = systemClock } = options;
  return {
    runtime,
    recordsDirectory,
    maxParallelImagePulls,
    credentialVerification: credentialVerification ?? 'NeverVerifyPreloadedImages',
    backoffBaseMs,
    backoffMaxMs,
    eventRecorder: safeEventRecorder(eventRecorder),
    clock: safeClock(clock),
    logger: loggerOption(logger),
  };
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
