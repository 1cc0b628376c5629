import { type SteadyClock, sleep } from '../base/clock.ts';
import { endedFailures } from '../base/failure-run.ts';
import { ignoreFailure } from '../base/guard.ts';
import type { Logger } from '../base/logging/logger.ts';
import { type Problem, problemFields } from '../base/problem.ts';

export interface FleetLogOptions {
  readonly fleet: string;
  readonly member: string;
  /** What is wrong with the ownership of shards now. */
  readonly problems: () => readonly Problem[];
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

/** How often is looked whether something has changed. */
const lookMs = 1000;

/** Writes a line where a process takes no shards of its fleet, or shards have no owner, and one when that is over. */
export class FleetLog {
  readonly #options: FleetLogOptions;
  readonly #stopping = new AbortController();
  /** Since when each kind of problem that was told is there. */
  readonly #told = new Map<string, number>();

  constructor(options: FleetLogOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#run().catch(ignoreFailure);
  }

  /** No timer is left. */
  stop(): void {
    this.#stopping.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      this.#look();
      await sleep(this.#options.clock, lookMs, signal);
    }
  }

  #look(): void {
    const { problems, clock } = this.#options;
    const found = new Map(problems().map((problem) => [problem.kind, problem]));
    for (const [kind, problem] of found) {
      if (this.#told.has(kind)) continue;
      this.#told.set(kind, problem.since ?? clock.now());
      this.#tell(problem);
    }
    for (const [kind, since] of this.#told) {
      if (found.has(kind)) continue;
      this.#told.delete(kind);
      this.#tellEnd(kind, since);
    }
  }

  #tell(problem: Problem): void {
    const { fleet, member, clock, logger } = this.#options;
    const fields = { fleet, member, reason: problem.message, ...problemFields(problem, clock.now()) };
    if (problem.kind === 'fleet-unowned') logger.warn(fields, 'shards of the fleet have no owner');
    else logger.warn(fields, 'this process takes no shards of the fleet');
  }

  #tellEnd(kind: string, since: number): void {
    const { fleet, member, clock, logger } = this.#options;
    const fields = { fleet, member, ...endedFailures({ attempt: 1, since }, clock.now()) };
    if (kind === 'fleet-unowned') logger.info(fields, 'the shards of the fleet have owners again');
    else logger.info(fields, 'this process takes shards of the fleet again');
  }
}
