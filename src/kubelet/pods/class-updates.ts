// Behaviour of UpdateCgroups in pkg/kubelet/cm/qos_container_manager_linux.go and of its callers, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { type Clock, type SteadyClock, sleep } from '../../base/clock.ts';
import { settlesWithin } from '../../base/concurrency/aborts.ts';
import { type Failing, FailureRun } from '../../base/failure-run.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import { problemFields } from '../../base/problem.ts';
import { helped } from '../../node/problem-help.ts';
import type { PodCgroups } from '../cgroups/cgroup-manager.ts';

export interface ClassUpdatesOptions {
  readonly cgroups: Pick<PodCgroups, 'updateClasses'>;
  /** The pods whose requests count. */
  readonly activePods: () => readonly Pod[];
  readonly clock: SteadyClock;
  readonly logger: Logger;
}

const never = new AbortController().signal;

/** So long a pod waits for the groups of classes at most: its own group does not depend on them. */
const patienceMs = 2000;

/**
 * An update looks at all pods. The next one waits for so many times as long as that took, so that thousands of pods take no more than a
 * tenth of a processor; less than a millisecond is no wait.
 */
const restFactor = 9;
const shortestRestMs = 5;
/** A machine that stood still meanwhile makes a look seem long. */
const longestRestMs = 1000;

/**
 * Brings the groups of classes up to date. Two updates never run at once, and all calls that come while one runs, or while the one before
 * is rested from, share the next one.
 */
export class ClassUpdates {
  readonly #options: ClassUpdatesOptions;
  readonly #failures: FailureRun;
  #current: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(options: ClassUpdatesOptions) {
    this.#options = options;
    this.#failures = new FailureRun(options.clock, (ended) =>
      options.logger.info(ended, 'the groups of the classes of pods are up to date again'),
    );
  }

  /** Why the groups are not up to date; undefined while all is well. */
  get failing(): Failing | undefined {
    return this.#failures.failing;
  }

  /** Resolves after an update that began with this call, or later. Never rejects: the next call tries again what has failed. */
  update(): Promise<void> {
    if (this.#next !== undefined) return this.#next;
    if (this.#current === undefined) return this.#begin();
    this.#next = this.#current.then(() => {
      this.#next = undefined;
      return this.#begin();
    });
    return this.#next;
  }

  #begin(): Promise<void> {
    const { clock } = this.#options;
    const began = clock.elapsed();
    const run = this.#run();
    // what has been done of it so far looked at the pods, what is left writes a few files
    const restMs = Math.min((clock.elapsed() - began) * restFactor, longestRestMs);
    const rested = restMs < shortestRestMs ? run : run.then(() => this.#rest(restMs));
    const current = rested.finally(() => {
      if (this.#current === current) this.#current = undefined;
    });
    this.#current = current;
    return run;
  }

  /** Never rejects. A clock that sets no timer lets nobody wait. */
  async #rest(ms: number): Promise<void> {
    await callGuarded(() => sleep(this.#options.clock, ms, never, { keepAlive: false }), ignoreFailure);
  }

  async #run(): Promise<void> {
    const { cgroups, activePods, clock, logger } = this.#options;
    try {
      await cgroups.updateClasses(activePods());
      this.#failures.succeeded();
    } catch (err) {
      const problem = { ...this.#failures.failed(err), ...helped('cgroups') };
      logger.warn(
        { err, ...problemFields(problem, clock.now()) },
        'the groups of the classes of pods could not be brought up to date; it is tried again',
      );
    }
  }
}

/** Has the groups of classes brought up to date, and waits for that for a while. Never rejects. */
export async function awaitClasses(
  cgroups: { updateClasses(): Promise<unknown> },
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  await settlesWithin(cgroups.updateClasses(), { clock, timeoutMs: patienceMs, signal });
}
