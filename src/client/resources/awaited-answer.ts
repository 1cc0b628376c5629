import type { AwaitedStart, LastFailure } from '../../base/concurrency/run-state.ts';
import { readApiFailure } from './error-class.ts';

/** What a start waits for: an answer of the apiserver. `what` says what is missing until then. */
export function awaitedAnswer(what: string, failure: Pick<LastFailure, 'error'> | undefined): AwaitedStart {
  if (failure === undefined) return { text: `${what}: the server has not answered` };
  return { text: `${what}: ${readApiFailure(failure.error).message}`, cause: failure.error };
}
