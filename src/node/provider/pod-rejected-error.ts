import { errorText, isStatusManagerError, StatusManagerError } from '../../base/errors.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { requireText } from '../../base/options.ts';
import { textBeginning } from '../../base/text-beginning.ts';

/** The most characters of a reason: an event takes no more. */
const longestReason = 128;
/** The most characters of a message. */
const longestMessage = 500;

/**
 * A provider's `createPod` throws it for a pod that it will never run: the pod is Failed with this reason and message, an event says
 * so, and `createPod` is not called again. `deletePod` is called once, for what `createPod` may have begun. A pod's controller, if it
 * has one, makes another pod. From any other method it is a failure like others. Code ERR_POD_REJECTED; one of another copy of the
 * package counts, too.
 *
 * @example
 * ```ts
 * import { PodRejectedError } from 'pod-status-manager/node';
 *
 * const error = new PodRejectedError('NoSuchFlavor', 'this region has no machines with 8 GPUs');
 * console.log(error.code, error.reason); // ERR_POD_REJECTED NoSuchFlavor
 * ```
 */
export class PodRejectedError extends StatusManagerError {
  /** A word in CamelCase, such as `NoSuchFlavor`: of the pod's status, and of the event. At most 128 characters of it are told. */
  readonly reason: string;

  /** Throws ERR_INVALID_ARGUMENT for a reason that is no text, or empty. */
  constructor(reason: string, message: string, options?: ErrorOptions) {
    super('ERR_POD_REJECTED', message, options);
    requireText('reason', reason);
    this.name = 'PodRejectedError';
    this.reason = reason;
  }
}

/** Why a provider will never run a pod. */
export interface PodRejection {
  readonly reason: string;
  readonly message: string;
}

/** What the error says where it refuses the pod for good; else undefined. Never throws. */
export function rejectionOf(error: unknown): PodRejection | undefined {
  return callGuarded((): PodRejection | undefined => {
    if (!isStatusManagerError(error, 'ERR_POD_REJECTED') || !('reason' in error)) return undefined;
    const { reason } = error;
    if (typeof reason !== 'string' || reason === '') return undefined;
    return {
      reason: textBeginning(reason, longestReason),
      message: textBeginning(errorText(error), longestMessage) || 'no message',
    };
  }, ignoreFailure);
}
