// Calls of injected functions: loggers, metrics sinks, listeners, probes and handlers belong to somebody else. What they
// throw, and what their promises reject with, must not end the process or the work of the caller.

/** Is given what an injected function threw, or what its promise rejected with. */
export type OnFailure = (error: unknown) => void;

/**
 * Calls an injected function and returns its answer; undefined when it throws. `onFailure` is called at most once: with
 * what the function threw, or with what the promise that it returned rejects with.
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

/** True when `value` is a promise, or has a `then` method like one; `onFailure` is then called with what it rejects with. */
export function catchRejection(value: unknown, onFailure: OnFailure): boolean {
  if (typeof value !== 'object' || value === null || !('then' in value) || typeof value.then !== 'function') return false;
  Promise.resolve(value).then(undefined, onFailure);
  return true;
}

/** An injected function whose failures concern nobody. */
export const ignoreFailure: OnFailure = () => {};
