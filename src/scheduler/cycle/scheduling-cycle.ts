import type { SteadyClock } from '../../base/clock.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { Nominator } from '../cache/nominator.ts';
import type { SchedulerCache } from '../cache/scheduler-cache.ts';
import { CycleState } from '../framework/cycle-state.ts';
import { FitError } from '../framework/fit-error.ts';
import type { Framework } from '../framework/framework.ts';
import type { PostFilterAnswer } from '../framework/plugin.ts';
import { podFields } from '../nodes/pod-info.ts';
import type { SteadyTime } from '../queue/backoff-queue.ts';
import type { QueuedPodInfo } from '../queue/queued-pod-info.ts';
import type { SchedulingAlgorithm } from './algorithm.ts';
import { type Attempt, type PlacedPod, refusedNode } from './attempt.ts';

export interface RunLoopOptions {
  /** Does one piece of work; false where there is none. */
  readonly step: () => boolean;
  readonly clock: SteadyClock;
}

/** How long the steps of one turn may take together, in milliseconds, before sockets and timers have theirs. */
const turnMs = 8;
/** The clock may stand still. */
const mostSteps = 256;

/** Does pieces of work for as long as there are any, and lets the rest of the process have its turn in between. */
export class RunLoop {
  readonly #options: RunLoopOptions;
  #isRunning = false;
  #turn: NodeJS.Immediate | undefined;
  #idle = Promise.withResolvers<void>();

  constructor(options: RunLoopOptions) {
    this.#options = options;
    this.#idle.resolve();
  }

  /** True while work is under way or about to begin. */
  get isBusy(): boolean {
    return this.#turn !== undefined;
  }

  start(): void {
    this.#isRunning = true;
    this.wake();
  }

  stop(): void {
    this.#isRunning = false;
    if (this.#turn === undefined) return;
    clearImmediate(this.#turn);
    this.#turn = undefined;
    this.#idle.resolve();
  }

  /** There may be work. */
  wake(): void {
    if (!this.#isRunning || this.#turn !== undefined) return;
    this.#idle = Promise.withResolvers<void>();
    this.#turn = setImmediate(() => this.#work());
  }

  /** Resolves once there is no work, or the loop was stopped. */
  idle(): Promise<void> {
    return this.#idle.promise;
  }

  #work(): void {
    const { step, clock } = this.#options;
    const until = clock.elapsed() + turnMs;
    let steps = 1;
    while (step()) {
      if (!this.#isRunning) return;
      if (steps >= mostSteps || clock.elapsed() >= until) {
        this.#turn = setImmediate(() => this.#work());
        return;
      }
      steps += 1;
    }
    this.#turn = undefined;
    this.#idle.resolve();
  }
}

// Behaviour of pkg/scheduler/schedule_one.go schedulingCycle, v1.36.3.

/** What came of one attempt. */
export type AttemptOutcome =
  | { readonly placed: PlacedPod; readonly waits: ReadonlyMap<string, number> }
  /** `made`: what postFilter found for a pod that fits nowhere. */
  | { readonly placed?: undefined; readonly error: unknown; readonly made?: PostFilterAnswer | undefined };

export interface SchedulingCycleParts {
  readonly cache: SchedulerCache;
  readonly nominator: Nominator;
  readonly algorithm: SchedulingAlgorithm;
  readonly time: SteadyTime;
  readonly logger: Logger;
  /** False where nobody could carry out what postFilter wants to be done. */
  readonly canEvict: boolean;
}

/**
 * Finds a node for a pod and takes the place on it, in one go: nothing else happens meanwhile. Whatever fails, the pod holds
 * nothing afterwards.
 */
export class SchedulingCycle {
  readonly #parts: SchedulingCycleParts;

  constructor(parts: SchedulingCycleParts) {
    this.#parts = parts;
  }

  begin(framework: Framework, queued: QueuedPodInfo): Attempt {
    const startedAt = this.#parts.time.time();
    return { framework, queued, podInfo: queued.podInfo, state: new CycleState(), startedAt };
  }

  run(attempt: Attempt): AttemptOutcome {
    const { framework, podInfo, state } = attempt;
    const { cache, algorithm, nominator } = this.#parts;
    let nodeName: string;
    try {
      cache.updateSnapshot();
      ({ nodeName } = algorithm.schedulePod(framework, podInfo, state));
    } catch (error) {
      return error instanceof FitError ? this.#makeRoom(attempt, error) : { error };
    }
    const problem = cache.assumePod(podInfo, nodeName);
    if (problem !== undefined) return { error: new Error(problem) };
    nominator.delete(podInfo.uid);
    return this.#reserve({ ...attempt, nodeName });
  }

  /** Gives up what the pod holds of its node. */
  undo({ framework, state, podInfo, nodeName }: PlacedPod): void {
    framework.binding.unreserve(state, podInfo, nodeName);
    // the watch may have brought the pod, or its end, meanwhile
    this.#parts.cache.forgetPod(podInfo, nodeName);
  }

  #reserve(placed: PlacedPod): AttemptOutcome {
    const { framework, podInfo, state, nodeName } = placed;
    try {
      const refused = framework.binding.reserve(state, podInfo, nodeName);
      const { rejection = refused, waits } = refused === undefined ? framework.binding.permit(state, podInfo, nodeName) : noWaits;
      if (rejection === undefined) return { placed, waits };
      this.undo(placed);
      return { error: refusedNode(placed, nodeName, rejection) };
    } catch (error) {
      this.undo(placed);
      return { error };
    }
  }

  #makeRoom({ framework, podInfo, state }: Attempt, { pod, diagnosis }: FitError): AttemptOutcome {
    const { logger, canEvict } = this.#parts;
    const found = callGuarded(
      () => framework.postFilter(state, podInfo, diagnosis),
      (err) => logger.error({ err, ...podFields(podInfo) }, 'no room could be made for a pod'),
    );
    const made = canEvict || (found?.actions ?? []).length === 0 ? found : cannotEvict;
    return { error: new FitError(pod, diagnosis, made?.message), made };
  }
}

/** A node must not be promised to a pod whose victims stay. */
const cannotEvict: PostFilterAnswer = {
  nominatedNodeName: '',
  message: 'preemption: not possible, because the client of the scheduler has no `deletePod`',
};
const noWaits = { rejection: undefined, waits: new Map<string, number>() };
