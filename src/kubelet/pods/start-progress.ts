import type { Pod } from '../../api/json/types.ts';
import { podFields } from '../../api/pod/pod-log-fields.ts';
import type { Clock } from '../../base/clock.ts';
import { nthDelayMs } from '../../base/concurrency/backoff.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { runtimeReason, type WaitingReason } from '../../node/pod-status/get-phase.ts';
import { type ContainerEntry, containerEntries, type PodActions } from '../actions/pod-actions.ts';
import type { AgentPodStatus } from '../pleg/agent-status.ts';

export interface StartProgressOptions {
  /** Tells how far the start has come. */
  readonly tell: (signal: AbortSignal) => Promise<void>;
  readonly pod: Pod;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A start that is over sooner tells one status alone: one request less for a pod that starts at once. */
const waits = { firstMs: 1000, longestMs: 10_000 };

/** While a pod's start takes long, as when an image is pulled, tells again and again how far it has come. */
export class StartProgress {
  readonly #options: StartProgressOptions;
  readonly #over = new AbortController();
  #cancel: () => void = () => {};
  #telling: Promise<void> | undefined;

  constructor(options: StartProgressOptions) {
    this.#options = options;
    this.#wait(1);
  }

  /** Resolves once nothing more is told. */
  async end(): Promise<void> {
    this.#cancel();
    this.#over.abort();
    await this.#telling;
  }

  #wait(n: number): void {
    const waitMs = nthDelayMs(n, waits);
    this.#cancel = this.#options.clock.setTimer(() => {
      this.#telling = this.#tell().then(() => {
        if (!this.#over.signal.aborted) this.#wait(n + 1);
      });
    }, waitMs);
  }

  async #tell(): Promise<void> {
    const { tell, pod, logger } = this.#options;
    const { signal } = this.#over;
    try {
      await tell(signal);
    } catch (err) {
      if (!signal.aborted)
        logger.debug({ err, ...podFields(pod.metadata) }, 'it could not be told how far the start of a pod has come');
    }
  }
}

/** What a pod's status is made from while a sync of the pod goes on. */
export interface ProgressView {
  readonly status: AgentPodStatus;
  /** What containers wait for, by their names. */
  readonly reasons: ReadonlyMap<string, WaitingReason>;
}

/** The ids, as statuses have them, of the runs that a sync ends so that their containers run again. */
export function restartedRuns(actions: PodActions, status: AgentPodStatus): string[] {
  const starting = new Set([...actions.initContainersToStart, ...actions.containersToStart].map(({ name }) => name));
  return status.containers.filter(({ name, state }) => state === 'running' && starting.has(name)).map(({ id }) => id);
}

/**
 * The pod as its status shows it in the middle of a sync.
 *
 * - A container that the runtime has made and not started yet is left out: upstream's status gives it no reason to wait. It shows
 *   what it waits for, or how it ended before.
 * - A container of which this sync has ended the run, so that it runs again, waits, and that end is its last state. Upstream tells no
 *   status between the two. A restart policy may forbid what is told as terminated to run again, but a changed container runs again
 *   under every policy.
 */
export function progressView(status: AgentPodStatus, endedRuns: ReadonlySet<string>): ProgressView {
  const seen = new Set<string>();
  const reasons = new Map<string, WaitingReason>();
  const entries: ContainerEntry[] = [];
  for (const entry of containerEntries(status)) {
    const { id, name, state } = entry.status;
    if (state === 'created') continue;
    if (state === 'exited' && endedRuns.has(id) && !seen.has(name)) {
      entries.push(asMade(entry));
      reasons.set(name, { reason: runtimeReason.containerCreating });
    }
    seen.add(name);
    entries.push(entry);
  }
  const containers = entries.map((entry) => entry.status);
  return { status: { ...status, containers, containerDetails: entries.map(({ details }) => details) }, reasons };
}

/** Stands for the next run of the container, before it is made. */
function asMade({ status, details }: ContainerEntry): ContainerEntry {
  return { status: { ...status, state: 'created' }, details: { ...details, state: 'created' } };
}
