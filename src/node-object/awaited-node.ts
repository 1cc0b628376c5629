import { readApiFailure } from '../client/error-class.ts';
import type { AwaitedStart } from '../concurrency/start-wait.ts';
import type { StepFailure } from './steady-loop.ts';

/** What the start of a node waits for: its object on the apiserver. */
export function awaitedNode(failure: StepFailure | undefined): AwaitedStart {
  if (failure === undefined) return { text: 'the node object is not registered: the server has not answered' };
  const { error } = failure;
  return { text: `the node object is not registered: ${readApiFailure(error).message}`, cause: error };
}
