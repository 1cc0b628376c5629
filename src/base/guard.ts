// Guarded calls of injected functions: loggers, metrics sinks, listeners, probes and handlers. An error that one throws,
// or that its promise rejects with, must not end the process or the caller's work.

/** Gets the error that an injected function threw, or that its promise rejected with. */
export type OnFailure = (error: unknown) => void;

/**
 * Calls an injected function and returns its answer; undefined when it throws. `onFailure` is called at most once: with
 * the error that the function threw, or that its promise rejects with.
 */
export function callGuarded<T>(call: () => T, onFailure: OnFailure): T | undefined {
  try {
    const answer = call();
    catchRejection(answer, onFailure);
    return answer;
  } catch (error) {
    onFailure(error);
    return undefined;
  }
}

/** True when `value` is a promise or has a `then` method. If it rejects, `onFailure` gets the error. */
export function catchRejection(value: unknown, onFailure: OnFailure): boolean {
  if (!isThenable(value)) return false;
  Promise.resolve(value).then(undefined, onFailure);
  return true;
}

/** True when `value` is a promise or has a `then` method. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** For an injected function whose failures are ignored. */
export const ignoreFailure: OnFailure = () => {};
