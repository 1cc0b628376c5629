import { isStaticPod } from '../../api/pod/pod-identity.ts';
import type { BoundedChannel } from '../../base/concurrency/bounded-channel.ts';
import type { RunStateName } from '../../base/concurrency/run-state.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import { notRunning, type PodProblem, type ProblemReport, problemReport } from '../../base/problem.ts';
import type { LastError } from '../../client/resources/error-class.ts';
import { isPodReady } from '../conditions/pod-conditions.ts';
import type { PodStatusReader, VersionedPodStatus } from '../status-cache.ts';
import type { AgentView } from './agent-view.ts';
import { attemptsOf } from './explain.ts';
import type { PodProblems } from './pod-problems.ts';
import type { PodSyncPhase, SyncPhases } from './sync-phase.ts';
import type { SyncRecords } from './sync-records.ts';

/** One pod of a {@link StatusManagerSnapshot}. Times are milliseconds since the epoch. */
export interface PodSnapshot {
  /** The pod's uid; for a mirror pod its static pod's. */
  readonly podUID: string;
  /** The pod's name. */
  readonly name: string;
  /** The pod's namespace. */
  readonly namespace: string;
  /** Where the newest status stands on its way to the apiserver. */
  readonly phase: PodSyncPhase;
  /** The pod's own phase, as the newest status says it. */
  readonly podPhase: string | undefined;
  /** True when the condition Ready of the newest status is True. */
  readonly ready: boolean;
  /** Restarts of all containers together, init and ephemeral containers left out. */
  readonly restarts: number;
  /** What is wrong with the pod, as far as the manager knows; undefined when all is well. */
  readonly problem: PodProblem | undefined;
  /** The number of the newest status. */
  readonly version: number;
  /** The version the apiserver took last; 0 for none. */
  readonly acknowledgedVersion: number;
  /** When the newest version was set. */
  readonly changedAt: number;
  /** When the oldest change that the apiserver does not have was set; undefined when it has the newest version. */
  readonly unsentSince: number | undefined;
  /** Failures in a row; 0 once a request has succeeded. */
  readonly attempt: number;
  /** The last failure; undefined once a request has succeeded. */
  readonly lastError: LastError | undefined;
  /** When the next try is due; undefined unless the pod backs off, or the whole client waits. */
  readonly retryAt: number | undefined;
  /** True for a static pod. */
  readonly isStatic: boolean;
  /** The pod has a deletionTimestamp, as the pod manager or the agent's last status says. */
  readonly isDeleting: boolean;
  /** Nothing of the pod runs any more: its last status is set. */
  readonly isFinished: boolean;
}

/** What a manager holds and does at one moment. */
export interface StatusManagerSnapshot extends ProblemReport {
  /** When it was taken, in milliseconds since the epoch. */
  readonly at: number;
  /** `idle`, `running`, `stopping` or `stopped`. */
  readonly state: RunStateName;
  /** Pods with a status in the cache, whichever of them are listed. */
  readonly podCount: number;
  /** Requests that have not settled: those on their way, and those that were given up. */
  readonly inFlight: number;
  /** The channel of hints: how many wait, how many it holds, and how many were dropped because it was full. Without a pod client it stays empty. */
  readonly channel: {
    /** How many hints wait. */
    readonly depth: number;
    /** How many hints it holds. */
    readonly capacity: number;
    /** How many hints were dropped because it was full. */
    readonly dropped: number;
  };
  /** When the pause of the whole client ends, in milliseconds since the epoch; undefined while there is none. */
  readonly pausedUntil: number | undefined;
  /** The listed pods, in the order in which the cache first had them. */
  readonly pods: readonly PodSnapshot[];
}

export interface SnapshotContext {
  readonly podStatuses: PodStatusReader;
  readonly agent: AgentView;
  /** Undefined when the manager has no pod client. */
  readonly records: SyncRecords | undefined;
  readonly phases: SyncPhases;
  readonly problems: PodProblems;
  readonly pausedUntil: number | undefined;
}

type Moment = Pick<StatusManagerSnapshot, 'at' | 'state' | 'inFlight'> & { readonly channel: BoundedChannel<string> };

/** See `StatusManager.snapshot`. */
export function snapshotOf(context: SnapshotContext & Moment, podUIDs: Iterable<string>): StatusManagerSnapshot {
  const { at, state, inFlight, channel, pausedUntil, podStatuses, records } = context;
  const isSilent = records !== undefined && state !== 'running';
  const ofPods = context.problems.all();
  const report = problemReport(isSilent ? [notRunning('the status manager', state, 'it sends nothing'), ...ofPods] : ofPods, at);
  return Object.freeze({
    at,
    state,
    podCount: podStatuses.size,
    inFlight,
    channel: Object.freeze({ depth: channel.size, capacity: channel.capacity, dropped: channel.dropped }),
    pausedUntil,
    ...report,
    pods: snapshotOfPods(context, podUIDs),
  });
}

/** The named pods, frozen; without those that have no status. */
function snapshotOfPods(context: SnapshotContext, podUIDs: Iterable<string>): readonly PodSnapshot[] {
  const pods: PodSnapshot[] = [];
  for (const podUID of podUIDs) {
    const pod = snapshotOfPod(context, podUID);
    if (pod !== undefined) pods.push(pod);
  }
  return Object.freeze(pods);
}

/** Undefined for a pod without a status. Sends nothing, and changes nothing. What the pod manager fails to say is left out. */
function snapshotOfPod(context: SnapshotContext, podUID: string): PodSnapshot | undefined {
  const { podStatuses, agent, phases } = context;
  const entry = podStatuses.get(podUID);
  if (entry === undefined) return undefined;
  const pod = callGuarded(() => agent.pod(podUID), ignoreFailure);
  const phase = phases.phaseOf(podUID);
  const { acknowledgedVersion, ...attempts } = attemptsOf(context, podUID, phase);
  return Object.freeze({
    podUID,
    name: entry.podName,
    namespace: entry.podNamespace,
    phase,
    ...ofStatus(entry),
    version: entry.version,
    acknowledgedVersion,
    changedAt: entry.setAt,
    problem: context.problems.of(podUID, phase),
    unsentSince: acknowledgedVersion < entry.version ? entry.at : undefined,
    ...attempts,
    isStatic: pod !== undefined && isStaticPod(pod),
    isDeleting: entry.deletionSeenAt !== undefined || Boolean(pod?.metadata?.deletionTimestamp),
    isFinished: entry.podIsFinished,
  });
}

function ofStatus({ status }: VersionedPodStatus): Pick<PodSnapshot, 'podPhase' | 'ready' | 'restarts'> {
  let restarts = 0;
  for (const { restartCount } of status.containerStatuses ?? []) restarts += restartCount ?? 0;
  return { podPhase: status.phase, ready: isPodReady(status), restarts };
}
