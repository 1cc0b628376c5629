import { callGuarded, ignoreFailure } from './guard.ts';

/** Every code an error of this library can carry, with what it means. */
export const errorCodes = {
  ERR_INVALID_OPTION: 'a constructor or method option is out of range or of the wrong type',
  ERR_INVALID_ARGUMENT: 'a pod, status, uid or container id breaks a rule; nothing was changed',
  ERR_ALREADY_STARTED: 'start() was called twice',
  ERR_NOT_STARTED: 'the operation needs a started manager',
  ERR_NO_CLIENT: 'the operation needs a pod client, and the manager has none',
  ERR_STOPPED: 'the manager is stopping or stopped',
  ERR_FLUSH_TIMEOUT: 'flush() timed out before every pod had settled',
  ERR_NOT_REGISTERED: 'no registered pod names the secret or config map',
  ERR_NOT_FOUND: 'the apiserver has no such secret or config map',
  ERR_OVER_BUDGET: 'a pod would make this node hold more for it than one pod may',
  ERR_POD_HELD: 'a pod refers to something that is missing, or that cannot be read now; the error names it',
  ERR_START_TIMEOUT: 'what a start waits for was not there in time; what was started goes on trying, and stop() ends it',
  ERR_SYNC_TIMEOUT: 'the watch of a secret or config map has not brought it in time',
  ERR_KILL_TIMEOUT: 'the containers of a pod that was to end have not stopped in time',
  ERR_CALL_TIMEOUT: 'a function that was given to the library, such as a method of a provider, gave no answer in time',
  ERR_BACKOFF: 'what is to be done waits until a time, which the error names',
  ERR_NO_NODE: 'the node that owns mirror pods is not known, has no uid, or is being deleted',
  ERR_INVALID_MANIFEST: 'the manifest of a static pod is no pod, or one that breaks a rule',
  ERR_NODE_VERSION: 'this Node.js is older than the package needs; the import throws it',
  ERR_VOLUME: 'a volume of a pod could not be made ready; the error says which, and why',
  ERR_POD_REJECTED: 'a provider will never run a pod; the error says why',
  ERR_PLUGIN: 'a plugin of the scheduler threw, or answered what it must not; the error names the plugin',
  ERR_EXTENDER: 'an extender of the scheduler did not answer, or not as it must; the error names the extender and the pod',
  ERR_DEVICE_SELECTOR: 'an expression that selects devices cannot be compiled, or fails at a device; the error names it',
  ERR_CGROUP: 'a cgroup of a pod could not be made, changed or removed',
  ERR_PLUGIN_CALL: 'a call to a plugin of the node, such as a storage driver, failed',
  ERR_SYSTEMD: 'systemd, or the message bus, refused a call, or could not be reached',
  ERR_RUNTIME: 'a call to the container runtime failed',
  ERR_KUBECONFIG: 'a kubeconfig cannot be read or used; the error names the file and the rule',
  ERR_KUBELET_API: 'a request to the API of a node is refused',
  ERR_SERVER: 'the API of a node is not served: its port or its certificate cannot be used',
  ERR_UNSCHEDULABLE: 'a pod fits on no node; the error says what each node has against it',
  ERR_API: 'a request to the apiserver failed',
} as const;

/** A code of an error of this library: see {@link errorCodes}. */
export type ErrorCode = keyof typeof errorCodes;

/**
 * The base class of this library's errors: `code` says what went wrong, `cause` holds the error behind it.
 *
 * @example
 * ```ts
 * import { parsePodFullName, StatusManagerError } from 'pod-status-manager';
 *
 * try {
 *   parsePodFullName('web');
 * } catch (error) {
 *   if (error instanceof StatusManagerError) console.log(error.code); // ERR_INVALID_ARGUMENT
 * }
 * ```
 */
export class StatusManagerError extends Error {
  /** What went wrong, for code that has to decide by it. */
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StatusManagerError';
    this.code = code;
  }
}

/**
 * True for an error of this library (with `code`, if given), also for one from another copy of the package.
 *
 * @example
 * ```ts
 * import { isStatusManagerError, StatusManagerError } from 'pod-status-manager';
 *
 * const error: unknown = new StatusManagerError('ERR_STOPPED', 'it was stopped');
 * console.log(isStatusManagerError(error), isStatusManagerError(error, 'ERR_NO_CLIENT')); // true false
 * ```
 */
export function isStatusManagerError(error: unknown, code?: ErrorCode): error is StatusManagerError {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return false;
  return Object.hasOwn(errorCodes, error.code) && (code === undefined || error.code === code);
}

/** How a value is shown in an error message: short, with its type, and never more than the first 60 characters. */
export function shownValue(value: unknown): string {
  // the value says the type
  if (value === undefined || value === null) return String(value);
  const type = Array.isArray(value) ? 'array' : typeof value;
  if (typeof value === 'string') return `${JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)} (${type})`;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return `${value} (${type})`;
  return `(${type})`;
}

/** The error says: Expected `name` to be RULE, got VALUE (TYPE). */
export function invalidOption(name: string, rule: string, value: unknown): StatusManagerError {
  return new StatusManagerError('ERR_INVALID_OPTION', `Expected \`${name}\` to be ${rule}, got ${shownValue(value)}`);
}

export function invalidArgument(name: string, rule: string, value: unknown): StatusManagerError {
  return new StatusManagerError('ERR_INVALID_ARGUMENT', `Expected \`${name}\` to be ${rule}, got ${shownValue(value)}`);
}

/** The code of an error of Node.js, such as `ENOENT` of the file system. */
export function errorCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** For `catch`: undefined for an error with one of the codes; throws any other error. */
export function ifCode(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (!codes.includes(errorCodeOf(error) ?? '')) throw error;
  };
}

/** What an error says. Never throws, whatever was thrown. */
export function errorText(error: unknown): string {
  if (error === undefined || error === null) return `${error} was thrown`;
  const text: unknown = callGuarded(() => (error instanceof Error ? error.message : String(error)), ignoreFailure);
  return typeof text === 'string' ? text : 'unknown error';
}

/** The reasons of the calls that were rejected, in the order of the calls. */
export function rejectionsOf(results: readonly PromiseSettledResult<unknown>[]): unknown[] {
  return results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
}

/** Throws the one error as it is, and several as one. `told` says what several say together; by default all their texts. */
export function throwAll(failures: readonly unknown[], told = (texts: readonly string[]): string => texts.join('; ')): void {
  if (failures.length === 0) return;
  if (failures.length === 1) throw failures[0];
  throw new AggregateError(failures, told(failures.map(errorText)));
}
