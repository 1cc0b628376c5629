/** What follows from a failed call: whether to try again, and how soon. */
export type RuntimeErrorKind =
  | 'not-found'
  | 'already-exists'
  | 'invalid'
  | 'unavailable'
  | 'timeout'
  | 'unimplemented'
  | 'failed';

/**
 * A call to the container runtime that failed. `message` is what the runtime said, as the kubelet shows it in events.
 *
 * @example
 * ```ts
 * import { RuntimeError } from 'pod-status-manager/node';
 *
 * const error = new RuntimeError('not-found', 'ContainerStatus', 'rpc error: code = NotFound desc = no such container');
 * console.log(error.kind, error.call); // not-found ContainerStatus
 * ```
 */
export class RuntimeError extends Error {
  /** What follows from the failure. */
  readonly kind: RuntimeErrorKind;
  /** The call that failed, by its name in CRI, such as `RunPodSandbox`. */
  readonly call: string;

  constructor(kind: RuntimeErrorKind, call: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RuntimeError';
    this.kind = kind;
    this.call = call;
  }
}

/**
 * True for a `RuntimeError` (of `kind`, if given), also for one from another copy of the package.
 *
 * @example
 * ```ts
 * import { isRuntimeError, RuntimeError } from 'pod-status-manager/node';
 *
 * const error: unknown = new RuntimeError('not-found', 'RemoveContainer', 'no such container');
 * console.log(isRuntimeError(error), isRuntimeError(error, 'unavailable')); // true false
 * ```
 */
export function isRuntimeError(error: unknown, kind?: RuntimeErrorKind): error is RuntimeError {
  if (!(error instanceof Error) || error.name !== 'RuntimeError') return false;
  return kind === undefined || (error as Partial<RuntimeError>).kind === kind;
}
