import type { RunStateName } from '../base/concurrency/run-state.ts';
import { frozenProblem, type Problem, type ProblemReport, problemReport } from '../base/problem.ts';
import type { RetriedError } from '../client/resources/error-class.ts';
import type { Nominator } from './cache/nominator.ts';
import type { SchedulerCache } from './cache/scheduler-cache.ts';
import type { PodAttempts } from './cycle/pod-attempts.ts';
import type { StatusWrites } from './cycle/status-writes.ts';
import { type ExtenderReports, passedOver } from './extenders/extender-reports.ts';
import type { PodInfo } from './nodes/pod-info.ts';
import { isEndingByPreemption } from './preemption/default-preemption.ts';
import type { SteadyTime } from './queue/backoff-queue.ts';
import type { SchedulingQueue } from './queue/scheduling-queue.ts';
import { explainPod, type PodSchedulingExplanation, schedulingProblem } from './reports/explain-pod.ts';
import type { LastAttempt, LastAttempts } from './reports/last-attempts.ts';
import { type KnownOfAttempts, type PodTrouble, podTrouble } from './reports/pod-problem.ts';
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

/** What a scheduler does at a moment, and what is wrong. It is frozen, and can be turned into JSON. */
export interface SchedulerSnapshot extends ProblemReport {
  /** When it was taken, in milliseconds since the epoch. */
  readonly at: number;
  /** As `Scheduler.state`. */
  readonly state: RunStateName;
  /** True while it schedules what it is told of. */
  readonly ready: boolean;
  /** What it has done and has to do, as `stats`. */
  readonly counts: SchedulerStats;
}

/** Who leads, as one of several schedulers sees it. */
export interface LeadershipReport {
  /** True while this process is to schedule; without leader election, while it runs. */
  readonly isLeader: boolean;
  /** Who holds the Lease, as far as it was seen; undefined where nobody does, and without leader election. */
  readonly holderIdentity: string | undefined;
  /** Why the Lease could not be read, taken or renewed, while no try has succeeded since. */
  readonly lastError: RetriedError | undefined;
}

/** What a scheduler of a cluster does at a moment, and what is wrong. It is frozen, and can be turned into JSON. */
export interface ClusterSchedulerSnapshot extends SchedulerSnapshot {
  /** True while it schedules, or stands by to: it runs, knows the cluster, and nothing keeps it from the Lease but another holder. */
  readonly ready: boolean;
  /** True once each resource that it needs has been listed. */
  readonly hasSynced: boolean;
  /** Which of several schedulers is to work. */
  readonly leader: LeadershipReport;
}

export interface ReportedState {
  readonly options: ResolvedSchedulerOptions;
  readonly time: SteadyTime;
  readonly queue: SchedulingQueue;
  readonly cache: SchedulerCache;
  readonly attempts: PodAttempts;
  readonly lastAttempts: LastAttempts;
  readonly writes: StatusWrites;
  readonly nominator: Nominator;
  readonly extenders: ExtenderReports;
  /** When a pod is tried again for which no room could be made, by `elapsed` of the clock. */
  readonly preemptions: { readonly retryAtMs: (podUID: string) => number | undefined };
}

export function statsOf({ queue, cache, attempts: { bindings, counts } }: ReportedState): SchedulerStats {
  const { active, backoff, unschedulable, gated } = queue.counts();
  return {
    ...counts,
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

export function explanationOf(reported: ReportedState, uid: string): PodSchedulingExplanation {
  return explainPod(knownOf(reported, uid));
}

function knownOf(reported: ReportedState, uid: string): KnownOfAttempts {
  const { options, time, queue, cache, attempts, lastAttempts, preemptions, extenders } = reported;
  const place = queue.placeOf(uid);
  const last = lastAttempts.get(uid);
  const now = time.time();
  const [podInfo, nodeName] = [cache.podOf(uid), cache.nodeNameOf(uid)];
  const boundAtMs = options.around !== undefined ? cache.unconfirmedSinceMs(uid) : undefined;
  const unconfirmedSince = boundAtMs === undefined ? undefined : time.at(boundAtMs);
  const retryAtMs = preemptions.retryAtMs(uid);
  const nominatedNodeName =
    nodeName === undefined && place !== undefined ? promisedNode(reported, place.info.podInfo) : undefined;
  return {
    uid,
    place,
    asksForEvents: (plugin) => place !== undefined && queue.asksForEvents(place.info, plugin),
    placed: podInfo && nodeName !== undefined ? { podInfo, nodeName, isBound: cache.isBound(uid), unconfirmedSince } : undefined,
    binding: attempts.bindings.progressOf(uid),
    last,
    victims: victimsLeft(last, cache, place?.info.podInfo, nominatedNodeName),
    nominatedNodeName,
    asked: extenders.askedOf(uid).map(({ sinceMs, ...one }) => ({ ...one, since: time.at(sinceMs) })),
    preemptionRetryAt: retryAtMs === undefined ? undefined : time.at(retryAtMs),
    isSuspended: attempts.isSuspended,
    nodeNames: () => cache.nodeNames,
    now,
    wallTime: (given) => time.wallTime(given),
    maxInUnschedulableMs: options.maxInUnschedulableMs,
  };
}

/** Nominated pods are kept from other pods once they may be tried; what the status of a gated one says is told all the same. */
function promisedNode({ nominator }: ReportedState, { uid, pod }: PodInfo): string | undefined {
  return nominator.nodeOf(uid) ?? (pod.status?.nominatedNodeName || undefined);
}

/**
 * Those that are still on the node from which they are to go, as they are now. Where another process chose them, those count that end there
 * because of a preemption: they are what the pod waits for.
 */
function victimsLeft(
  last: LastAttempt | undefined,
  cache: SchedulerCache,
  preemptor: PodInfo | undefined,
  nominatedNodeName = '',
): readonly PodInfo[] {
  if (last?.preemption === undefined) {
    if (last === undefined || preemptor === undefined || nominatedNodeName === '') return [];
    const pods = cache.stateOf(nominatedNodeName)?.pods ?? [];
    return pods.filter((pod) => pod.priority < preemptor.priority && isEndingByPreemption(pod));
  }
  const { victims, nodeName } = last.preemption;
  return victims.flatMap(({ uid }) => (cache.nodeNameOf(uid) === nodeName ? (cache.podOf(uid) ?? []) : []));
}

/** So many of the pods' problems say what would help: no snapshot has more. */
const mostHelped = 1000;

export function schedulerSnapshotOf(reported: ReportedState, ownState: RunStateName): SchedulerSnapshot {
  const { options, attempts, writes } = reported;
  const { around } = options;
  const at = options.clock.now();
  const state = around?.state ?? ownState;
  const own = [stateProblem(state), ...(around?.problems() ?? []), writes.problem(), ...extenderProblems(reported)];
  const ownProblems = own.filter((one) => one !== undefined);
  const pods = podTroubles(reported).map(({ known, trouble }, index) =>
    schedulingProblem(index < mostHelped ? trouble : { ...trouble, help: () => undefined }, known),
  );
  const ready = state === 'running' && !attempts.isSuspended;
  return Object.freeze({
    ...{ at, state, ready, counts: Object.freeze(statsOf(reported)) },
    ...problemReport([...ownProblems, ...pods], at),
  });
}

/** A scheduler that does not run schedules nothing. */
function stateProblem(state: RunStateName): Problem | undefined {
  if (state === 'running') return undefined;
  const [message, help] =
    state === 'idle' ? ['the scheduler was not started', 'Call `start()`.'] : [stateTexts[state], undefined];
  return frozenProblem({ kind: 'not-running', message, attempt: 0, help });
}

const stateTexts = { stopping: 'the scheduler is stopping', stopped: 'the scheduler has stopped' } as const;

/** Extenders that pods are placed without; where an extender that is not ignorable fails, its pods say so. */
function extenderProblems({ attempts, extenders, time }: ReportedState): Problem[] {
  if (attempts.isSuspended) return [];
  return extenders
    .failing()
    .map(({ error, sinceMs, attempt }) =>
      frozenProblem({ ...passedOver(error), since: time.wallTime(time.at(sinceMs)), attempt }),
    );
}

/** What is wrong with pods; what has lasted longest comes first. */
function podTroubles(reported: ReportedState): { readonly known: KnownOfAttempts; readonly trouble: PodTrouble }[] {
  const { options, queue, cache, attempts, lastAttempts, extenders } = reported;
  if (attempts.isSuspended) return [];
  const assumed = options.around !== undefined ? cache.assumedPods : [];
  const uids = new Set([
    ...lastAttempts.uids(),
    ...queue.gatedUids(),
    ...attempts.bindings.uids(),
    ...extenders.podUIDs(),
    ...assumed,
  ]);
  return [...uids]
    .flatMap((uid) => {
      const known = knownOf(reported, uid);
      const trouble = podTrouble(known);
      return trouble === undefined ? [] : [{ known, trouble }];
    })
    .sort(({ trouble: one }, { trouble: two }) => one.since - two.since);
}
