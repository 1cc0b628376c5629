import type { SchedulerCache } from './cache/scheduler-cache.ts';
import type { BindingCycles } from './cycle/binding-cycles.ts';
import type { SteadyTime } from './queue/backoff-queue.ts';
import type { SchedulingQueue } from './queue/scheduling-queue.ts';
import { explainPod, type PodSchedulingExplanation } from './reports/explain-pod.ts';
import type { LastAttempts } from './reports/last-attempts.ts';
import type { SchedulerSizes } from './reports/scheduler-metrics.ts';
import type { ResolvedSchedulerOptions } from './scheduler-options.ts';

/** What a scheduler has done and has to do. */
export interface SchedulerStats {
  /** Pods that were bound. */
  readonly bound: number;
  /** Attempts that ended without a node, or with an error. */
  readonly failedAttempts: number;
  /** Pods that can be tried now. */
  readonly active: number;
  /** Pods that failed and wait for the end of their back-off. */
  readonly backoff: number;
  /** Pods that wait for a change that may help them, and gated ones. */
  readonly unschedulable: number;
  /** Pods that are being bound, those included that wait for a permit. */
  readonly binding: number;
  /** Nodes that are known. */
  readonly nodes: number;
  /** Pods on nodes, those included that are being bound. */
  readonly pods: number;
}

export interface ReportedState {
  readonly options: ResolvedSchedulerOptions;
  readonly time: SteadyTime;
  readonly queue: SchedulingQueue;
  readonly cache: SchedulerCache;
  readonly bindings: BindingCycles;
  readonly lastAttempts: LastAttempts;
}

export function statsOf(
  { queue, cache, bindings }: ReportedState,
  done: Pick<SchedulerStats, 'bound' | 'failedAttempts'>,
): SchedulerStats {
  const { active, backoff, unschedulable, gated } = queue.counts();
  return {
    ...done,
    active,
    backoff,
    unschedulable: unschedulable + gated,
    binding: bindings.size,
    nodes: cache.nodeCount,
    pods: cache.podCount,
  };
}

/** What the gauges show. */
export function sizesOf({ queue, cache }: ReportedState): SchedulerSizes {
  return { queue: queue.counts(), nodes: cache.nodeCount, pods: cache.podCount, assumedPods: cache.assumedPods.size };
}

export function explanationOf(
  { options, time, queue, cache, lastAttempts }: ReportedState,
  uid: string,
): PodSchedulingExplanation {
  const [pod, nodeName] = [cache.podOf(uid), cache.nodeNameOf(uid)];
  const place = queue.placeOf(uid);
  return explainPod({
    uid,
    place,
    asksForEvents: (plugin) => place !== undefined && queue.asksForEvents(place.info, plugin),
    placed: pod === undefined || nodeName === undefined ? undefined : { key: pod.key, nodeName, isBound: cache.isBound(uid) },
    last: lastAttempts.get(uid),
    nodeNames: cache.updateSnapshot().nodes.map(({ name }) => name),
    now: time.time(),
    wallNow: options.clock.now(),
    maxInUnschedulableMs: options.maxInUnschedulableMs,
  });
}
