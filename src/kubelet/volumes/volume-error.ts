import { StatusManagerError } from '../../base/errors.ts';

/** Why one volume is not ready. */
export interface VolumeFailure {
  /** The volume's name in the pod's spec. */
  readonly volume: string;
  /** The reason of the event that a kubelet writes. */
  readonly reason: 'FailedMount';
  /** The message of that event. */
  readonly message: string;
}

/** So many volumes are named in the message. */
const mostTold = 10;

/**
 * Volumes of a pod are not ready. Its `code` is `ERR_VOLUME`.
 *
 * @example
 * ```ts
 * import { VolumeError } from 'pod-status-manager/node';
 *
 * const error = new VolumeError([{ volume: 'settings', reason: 'FailedMount', message: 'configmap "settings" not found' }]);
 * console.log(error.code, error.failures.length); // ERR_VOLUME 1
 * ```
 */
export class VolumeError extends StatusManagerError {
  /** One entry for each volume that is not ready. */
  readonly failures: readonly VolumeFailure[];

  constructor(failures: readonly VolumeFailure[], options?: ErrorOptions) {
    const told = failures.slice(0, mostTold).map(({ message }) => message);
    const rest = failures.length - told.length;
    super('ERR_VOLUME', [...told, ...(rest > 0 ? [`${rest} more volumes are not ready`] : [])].join('; '), options);
    this.name = 'VolumeError';
    this.failures = failures;
  }
}
