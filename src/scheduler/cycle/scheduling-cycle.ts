import { podFields } from '../../api/pod/pod-log-fields.ts';
import { errorText } from '../../base/errors.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { Nominator } from '../cache/nominator.ts';
import type { SchedulerCache } from '../cache/scheduler-cache.ts';
import { CycleState } from '../framework/cycle-state.ts';
import { FitError } from '../framework/fit-error.ts';
import type { Framework } from '../framework/framework.ts';
import { evictionsOf, type PluginRejection, type PostFilterAnswer } from '../framework/plugin.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { SteadyTime } from '../queue/backoff-queue.ts';
import type { QueuedPodInfo } from '../queue/queued-pod-info.ts';
import { pluginField } from '../reports/request-words.ts';
import { NodeSearch, type SchedulingAlgorithm } from './algorithm.ts';
import { schedulePodAwaited } from './awaited-search.ts';

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

/** The node that was chosen for a pod with the extenders' say; or why there is none. */
type AwaitedChoice = { readonly nodeName: string } | Extract<AttemptOutcome, { readonly placed?: undefined }>;

/**
 * Finds a node for a pod and takes the place on it, in one go: nothing else happens meanwhile. Where extenders have a say, the choice waits
 * for them, and then the place is taken in one go with a last look at the node. Whatever fails, the pod holds nothing afterwards.
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
    const { cache, algorithm } = this.#options;
    let nodeName: string;
    try {
      cache.updateSnapshot();
      ({ nodeName } = algorithm.schedulePod(framework, podInfo, state));
    } catch (error) {
      return error instanceof FitError ? this.#makeRoom(attempt, error) : { error };
    }
    return this.#assume(attempt, nodeName);
  }

  /**
   * Chooses a node with the extenders' say. Nobody else may bring the snapshot up to date meanwhile. Takes nothing, and never rejects.
   * What it found is good for `take` alone: nodes and pods may have changed.
   */
  async choose(attempt: Attempt, signal: AbortSignal): Promise<AwaitedChoice> {
    const { framework, podInfo: pod, state } = attempt;
    const { cache, algorithm } = this.#options;
    try {
      cache.updateSnapshot();
      return await schedulePodAwaited({ algorithm, framework, pod, state, signal });
    } catch (error) {
      return error instanceof FitError ? this.#makeRoomAwaited(attempt, error, signal) : { error };
    }
  }

  /**
   * Takes the place on a node that was chosen some time ago, in one go: looks at the node as it is now, with a state of its own, and takes it
   * if it fits.
   */
  take(chosenFor: Attempt, nodeName: string): AttemptOutcome {
    const attempt = { ...chosenFor, state: new CycleState() };
    try {
      const node = this.#options.cache.updateSnapshot().get(nodeName);
      const reason = node === undefined ? 'it is gone' : whyNoMore(attempt, node);
      if (reason !== undefined)
        return { error: new Error(`the node ${nodeName} was chosen, and while extenders were asked it has changed: ${reason}`) };
    } catch (error) {
      return { error };
    }
    return this.#assume(attempt, nodeName);
  }

  /** Gives up what the pod holds of its node. `mayBeBound`: it may be on it all the same. */
  undo({ framework, state, podInfo, nodeName }: PlacedPod, mayBeBound = false): void {
    framework.binding.unreserve(state, podInfo, nodeName, mayBeBound);
    // the watch may have brought the pod, or its end, meanwhile
    this.#options.cache.forgetPod(podInfo, nodeName);
  }

  #assume(attempt: Attempt, nodeName: string): AttemptOutcome {
    const { cache, nominator } = this.#options;
    const { podInfo } = attempt;
    const problem = cache.assumePod(podInfo, nodeName);
    if (problem !== undefined) return { error: new Error(problem) };
    nominator.delete(podInfo.uid);
    return this.#reserve({ ...attempt, nodeName });
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

  #makeRoom({ framework, podInfo, state }: Attempt, { pod, diagnosis }: FitError) {
    let found: PostFilterAnswer | undefined;
    try {
      found = framework.postFilter(state, podInfo, diagnosis);
    } catch (err) {
      this.#noRoom(podInfo, err);
      found = notKnown(err);
    }
    const made = this.#possible(found);
    return { error: new FitError(pod, diagnosis, made?.message), made };
  }

  async #makeRoomAwaited({ framework, podInfo, state }: Attempt, { pod, diagnosis }: FitError, signal: AbortSignal) {
    let found: PostFilterAnswer | undefined;
    try {
      found = await framework.postFilterAwaited(state, podInfo, diagnosis, signal);
    } catch (err) {
      if (!signal.aborted) this.#noRoom(podInfo, err);
      found = notKnown(err);
    }
    const made = this.#possible(found);
    return { error: new FitError(pod, diagnosis, made?.message), made };
  }

  #possible(found: PostFilterAnswer | undefined): PostFilterAnswer | undefined {
    if (this.#options.canEvict || evictionsOf(found?.actions).length === 0) return found;
    return { ...cannotEvict, actions: (found?.actions ?? []).filter(({ kind }) => kind !== 'evict') };
  }

  #noRoom(pod: PodInfo, err: unknown): void {
    this.#options.logger.error({ err, ...pluginField(err), ...podFields(pod) }, 'no room could be made for a pod');
  }
}

/** Why the pod no longer fits on the node; undefined where it does. */
function whyNoMore({ framework, podInfo, state }: Attempt, node: NodeInfo): string | undefined {
  const plan = new NodeSearch(framework, state, podInfo).begin();
  if ('rejected' in plan) return plan.rejected.diagnosis.rest?.reasons.join(', ') ?? '';
  if (!plan.nodes.includes(node)) return 'plugins leave it out';
  return framework.filters.filterWithNominated(state, podInfo, node)?.reasons.join(', ');
}

/** A node must not be promised to a pod whose victims stay. */
const cannotEvict: PostFilterAnswer = {
  nominatedNodeName: '',
  message: 'preemption: not possible, because the client of the scheduler has no `deletePod`',
};

/** What a plugin might have found is not known: an earlier promise stays. */
function notKnown(error: unknown): PostFilterAnswer {
  return { nominatedNodeName: undefined, message: `preemption: ${errorText(error)}` };
}

const noWaits = { rejection: undefined, waits: new Map<string, number>() };
