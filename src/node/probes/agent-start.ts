import { canonicalTime } from '../../api/json/time.ts';
import type { ContainerStatus } from '../../api/json/types.ts';
import type { SteadyClock } from '../../base/clock.ts';

/** A container that began so much earlier than the agent ran before a restart of the agent. */
const restartGraceMs = 10_000;

/**
 * When the agent began, by the wall clock as it goes now. A clock that is set back takes the agent's start with it: a container
 * that begins after that would else look older than the agent.
 */
export class AgentStart {
  #ms: number;
  readonly #clock: SteadyClock;
  /** The agent's start by the clock that only grows. */
  readonly #elapsedMs: number;

  constructor(ms: number, clock: SteadyClock) {
    this.#ms = ms;
    this.#clock = clock;
    this.#elapsedMs = clock.elapsed() - Math.max(0, clock.now() - ms);
  }

  /** How long ago the agent began, in milliseconds. */
  get ageMs(): number {
    return this.#clock.elapsed() - this.#elapsedMs;
  }

  /** In milliseconds since the epoch; never in the future. It needs asking now and then: the lowest time that it has seen. */
  get ms(): number {
    this.#ms = Math.min(this.#ms, this.#clock.now());
    return this.#ms;
  }
}

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
