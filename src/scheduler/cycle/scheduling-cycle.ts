import { podFields } from '../../api/pod/pod-log-fields.ts';
import { callGuarded } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { Nominator } from '../cache/nominator.ts';
import type { SchedulerCache } from '../cache/scheduler-cache.ts';
import { CycleState } from '../framework/cycle-state.ts';
import { FitError } from '../framework/fit-error.ts';
import type { Framework } from '../framework/framework.ts';
import type { PluginRejection, PostFilterAnswer } from '../framework/plugin.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { SteadyTime } from '../queue/backoff-queue.ts';
import type { QueuedPodInfo } from '../queue/queued-pod-info.ts';
import { pluginField } from '../reports/request-words.ts';
import type { SchedulingAlgorithm } from './algorithm.ts';

/** One try to place a pod. */
export interface Attempt {
  readonly framework: Framework;
  readonly queued: QueuedPodInfo;
  /** The version of the pod that is tried. */
  readonly podInfo: PodInfo;
  readonly state: CycleState;
  /** By the time of the queue. */
  readonly startedAt: number;
}

/** A pod that has a node and is to be bound. */
export interface PlacedPod extends Attempt {
  readonly nodeName: string;
}

/** The error of a pod whose chosen node was refused later on, by reserve or permit. */
export function refusedNode({ podInfo }: Attempt, nodeName: string, rejection: PluginRejection): FitError {
  const rejectors = new Set([rejection.plugin]);
  const pending = new Set(rejection.code === 'Pending' ? rejectors : []);
  const failures = new Map([[nodeName, rejection]]);
  const { pod } = podInfo;
  return new FitError(pod, { nodes: 1, failures, rest: undefined, isRejectedAsSuch: false, rejectors, pending });
}

// Behaviour of pkg/scheduler/schedule_one.go schedulingCycle, v1.36.3.

/** What came of one attempt. */
export type AttemptOutcome =
  | { readonly placed: PlacedPod; readonly waits: ReadonlyMap<string, number> }
  /** `made`: what postFilter found for a pod that fits nowhere. */
  | {
      readonly placed?: undefined;
      readonly error: unknown;
      readonly made?: PostFilterAnswer | undefined;
      /** The node that was taken from it again. */
      readonly nodeName?: string;
    };

export interface SchedulingCycleOptions {
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
  readonly #options: SchedulingCycleOptions;

  constructor(options: SchedulingCycleOptions) {
    this.#options = options;
  }

  begin(framework: Framework, queued: QueuedPodInfo): Attempt {
    const startedAt = this.#options.time.time();
    return { framework, queued, podInfo: queued.podInfo, state: new CycleState(), startedAt };
  }

  run(attempt: Attempt): AttemptOutcome {
    const { framework, podInfo, state } = attempt;
    const { cache, algorithm, nominator } = this.#options;
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
    this.#options.cache.forgetPod(podInfo, nodeName);
  }

  #reserve(placed: PlacedPod): AttemptOutcome {
    const { framework, podInfo, state, nodeName } = placed;
    try {
      const refused = framework.binding.reserve(state, podInfo, nodeName);
      const { rejection = refused, waits } = refused === undefined ? framework.binding.permit(state, podInfo, nodeName) : noWaits;
      if (rejection === undefined) return { placed, waits };
      this.undo(placed);
      return { error: refusedNode(placed, nodeName, rejection), nodeName };
    } catch (error) {
      this.undo(placed);
      return { error, nodeName };
    }
  }

  #makeRoom({ framework, podInfo, state }: Attempt, { pod, diagnosis }: FitError): AttemptOutcome {
    const { logger, canEvict } = this.#options;
    const found = callGuarded(
      () => framework.postFilter(state, podInfo, diagnosis),
      (err) => logger.error({ err, ...pluginField(err), ...podFields(podInfo) }, 'no room could be made for a pod'),
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
