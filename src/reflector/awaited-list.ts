import { readApiFailure } from '../client/error-class.ts';
import type { LastFailure } from '../concurrency/last-failure.ts';
import type { AwaitedStart } from '../concurrency/start-wait.ts';

/** What the start of a reader waits for: its first list. `what`: `the pods`. */
export function awaitedList(what: string, failure: LastFailure | undefined): AwaitedStart {
  if (failure === undefined) return { text: `${what} are not listed: the server has not answered` };
  return { text: `${what} are not listed: ${readApiFailure(failure.error).message}`, cause: failure.error };
}
