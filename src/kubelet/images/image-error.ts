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
