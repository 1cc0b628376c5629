import { canonicalTime } from '../wire/time.ts';
import type { PodStatus } from '../wire/types.ts';

export type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];

/** A container that began so much earlier than the agent ran before a restart of the agent. */
const restartGraceMs = 10_000;

/** When the container began to run, in milliseconds since the epoch; undefined where it does not run, or nobody knows. */
export function runningSince({ state }: ContainerStatus): number | undefined {
  const text = canonicalTime(state?.running?.startedAt, 'state.running.startedAt');
  return text === undefined ? undefined : Date.parse(text);
}

/** True for a container that ran before the agent did: it keeps the state that it had. */
export function ranBeforeAgent(container: ContainerStatus, agentStartedAt: number): boolean {
  const since = runningSince(container);
  return since !== undefined && since < agentStartedAt - restartGraceMs;
}
