import { StatusManagerError } from '../../base/errors.ts';
import type { HeldPod } from './held-pod.ts';

/**
 * A pod cannot have plain values now: something that it refers to is missing, or cannot be read. Its `code` is `ERR_POD_HELD`.
 *
 * @example
 * ```ts
 * import { PodHeldError } from 'pod-status-manager/node';
 *
 * const held = { kind: 'secret-missing', message: 'secret "db" not found', help: undefined, waits: new Map(), events: [] };
 * const error = new PodHeldError(held);
 * console.log(error.code, error.held.kind); // ERR_POD_HELD secret-missing
 * ```
 */
export class PodHeldError extends StatusManagerError {
  /** What is missing, which containers wait for it, and what would help. */
  readonly held: HeldPod;

  constructor(held: HeldPod, options?: ErrorOptions) {
    super('ERR_POD_HELD', held.message, options);
    this.name = 'PodHeldError';
    this.held = held;
  }
}
