import type { JsonObject } from '../../api/json/types.ts';
import { changedPaths, changesBetween } from '../../api/patch/json-patch.ts';
import { createWirePodStatusPatch } from '../../api/patch/pod-status-patch.ts';
import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { PodProblem } from '../../base/problem.ts';
import type { LastError } from '../../client/resources/error-class.ts';
import { differsFromServer } from '../rules/server-fill-ins.ts';
import type { PodStatusReader, VersionedPodStatus } from '../status-cache.ts';
import type { ApiTarget } from './agent-view.ts';
import { type PodProblems, reasonOfEnd } from './pod-problems.ts';
import type { PodSyncPhase, SyncPhases } from './sync-phase.ts';
import { type StatusToWriteContext, statusToWrite } from './sync-pod.ts';
import type { SyncRecords } from './sync-records.ts';

/** Why the newest status of a pod is, or is not, on the apiserver. */
export interface PodExplanation {
  /** The uid that was asked about; for a mirror pod its static pod's. */
  readonly podUID: string;
  /** The pod's namespace; empty for a pod of which nothing is known. */
  readonly podNamespace: string;
  /** The pod's name; empty for a pod of which nothing is known. */
  readonly podName: string;
  /** Where the newest status stands. */
  readonly phase: PodSyncPhase;
  /** One sentence: why the newest status is, or is not, on the apiserver. */
  readonly reason: string;
  /** What is wrong with the pod, as far as the manager knows; undefined when all is well. */
  readonly problem: PodProblem | undefined;
  /** The newest version; undefined when no status is cached. */
  readonly version: number | undefined;
  /** The version the apiserver took last; 0 for none. */
  readonly acknowledgedVersion: number;
  /** The uid of the object on the apiserver: the mirror pod's for a static pod. */
  readonly apiUID: string | undefined;
  /** Failures in a row; 0 once a request has succeeded. */
  readonly attempt: number;
  /** The last failure; undefined once a request has succeeded. */
  readonly lastError: LastError | undefined;
  /** When the next try is due, in milliseconds since the epoch. */
  readonly retryAt: number | undefined;
  /** JSON pointers into the status: what a patch against the freshest API copy known would change. */
  readonly differs: readonly string[];
}

/** What {@link differingPaths} needs. */
export interface DiffContext extends StatusToWriteContext {
  readonly patchFormat: 'strategic' | 'json';
}

export interface ExplainContext extends DiffContext {
  readonly podStatuses: PodStatusReader;
  readonly records: SyncRecords | undefined;
  readonly phases: SyncPhases;
  readonly problems: PodProblems;
  /** When the pause of the whole client ends, in milliseconds since the epoch. */
  readonly pausedUntil: number | undefined;
}

const reasons: Readonly<Record<PodSyncPhase, string>> = {
  unknown: 'no status was set for this pod, or its entry was dropped',
  'cache-only': 'the manager has no pod client and sends nothing',
  'not-started': 'the manager is not running',
  'in-sync': 'the newest version is on the apiserver',
  'terminal-phase-held-back': 'the terminal phase waits until no container of the pod could run any more',
  pending: 'the newest version waits for its turn',
  'in-flight': 'a sync of this pod is under way',
  paused: 'all requests wait: the apiserver has asked for that, or there are no valid credentials',
  'backing-off': 'the last attempt failed and is tried again',
  quarantined: 'the apiserver refuses this status; it is tried again when the status or the API copy changes',
  gone: 'the pod is no longer there: the apiserver does not know it, or the pod manager has forgotten it',
  'no-mirror-pod': 'the static pod has no mirror pod on the apiserver',
  deleting: 'the deletion was accepted, and finalizers hold the object',
};

const overwritten = 'the newest version was written, and another writer has changed it since: the next batch writes it again';

/**
 * Why this pod's status is, or is not, on the apiserver. Sends nothing and changes no status. Asks the deletion safety about a
 * terminal phase that the apiserver does not have. What the pod manager fails to say is left out.
 */
export function explain(context: ExplainContext, podUID: string): PodExplanation {
  const { podStatuses, agent, phases, problems } = context;
  const entry = podStatuses.get(podUID);
  const end = problems.endOf(podUID);
  const problem = problems.of(podUID);
  const target = callGuarded(() => agent.target(podUID), ignoreFailure);
  const phase = end?.how === 'recreated' ? 'gone' : phases.phaseOf(podUID);
  const { acknowledgedVersion, attempt, lastError, retryAt } = attemptsOf(context, podUID, phase);
  const because = lastError === undefined ? '' : ` (${lastError.errorClass}: ${lastError.message})`;
  const differs = (entry && target && callGuarded(() => differingPaths(context, podUID, entry, target), ignoreFailure)) ?? [];
  const difference = () => entry && target && differs.length > 0 && reasonOfDifference(context, podUID, entry, target);
  const told = (phase === 'in-sync' && callGuarded(difference, ignoreFailure)) || reasons[phase];
  return {
    podUID,
    podNamespace: entry?.podNamespace ?? end?.podNamespace ?? problem?.podNamespace ?? '',
    podName: entry?.podName ?? end?.podName ?? problem?.podName ?? '',
    phase,
    reason: end === undefined ? `${told}${because}` : reasonOfEnd(end),
    problem,
    version: entry?.version,
    acknowledgedVersion,
    apiUID: target?.apiUID,
    attempt,
    lastError,
    retryAt,
    differs,
  };
}

/** A longer list of paths, or a longer path, is cut. */
const [mostPaths, longestPath] = [5, 100];

/** Why the apiserver's copy differs from a version that was written. No batch repairs a member that Kubernetes does not know. */
function reasonOfDifference(context: DiffContext, podUID: string, entry: VersionedPodStatus, target: ApiTarget): string {
  const { agent, ownedConditionTypes } = context;
  const copy = agent.freshest(target);
  if (copy === undefined || differsFromServer(entry.status, copy.normalized, ownedConditionTypes)) return overwritten;
  const next = statusToWrite(context, podUID, entry, copy);
  const changes = changesBetween(copy.status as JsonObject, next as JsonObject);
  const isDropped = changes.every(({ before, after }) => before === undefined && after !== undefined);
  const shown = changes
    .slice(0, mostPaths)
    .map(({ path }) => (path.length > longestPath ? `${path.slice(0, longestPath)}…` : path));
  const paths = `${shown.join(', ')}${changes.length > mostPaths ? ` and ${changes.length - mostPaths} more` : ''}`;
  return isDropped
    ? `the newest version was written, and the apiserver has dropped ${paths}: it knows no such member`
    : `the newest version was written, and the apiserver has ${paths} otherwise by now: no batch changes that`;
}

/** JSON pointers into the status: what a patch against the freshest API copy known would change. */
export function differingPaths(context: DiffContext, podUID: string, entry: VersionedPodStatus, target: ApiTarget): string[] {
  const copy = context.agent.freshest(target);
  if (copy === undefined) return [];
  const next = statusToWrite(context, podUID, entry, copy);
  const { unchanged } = createWirePodStatusPatch(copy.status, next, { uid: target.apiUID, format: context.patchFormat });
  return unchanged ? [] : changedPaths(copy.status as JsonObject, next as JsonObject);
}

/** How far the sending of one pod has come. */
export interface Attempts {
  readonly acknowledgedVersion: number;
  readonly attempt: number;
  readonly lastError: LastError | undefined;
  readonly retryAt: number | undefined;
}

export interface AttemptsContext {
  readonly records: SyncRecords | undefined;
  readonly pausedUntil: number | undefined;
}

/** What is known of the sending of one pod, for `explain` and `snapshot`: both say the same. */
export function attemptsOf({ records, pausedUntil }: AttemptsContext, podUID: string, phase: PodSyncPhase): Attempts {
  const state = records?.state(podUID);
  return {
    acknowledgedVersion: shownVersion(records, podUID),
    attempt: state?.failures ?? 0,
    lastError: state?.lastError,
    retryAt: state?.wait?.kind === 'backoff' ? state.wait.retryAt : phase === 'paused' ? pausedUntil : undefined,
  };
}

/** The acknowledged version, to be shown: 0 where the pod manager fails to speak of the pod. */
export function shownVersion(records: SyncRecords | undefined, podUID: string): number {
  return callGuarded(() => records?.acknowledgedVersion(podUID), ignoreFailure) ?? 0;
}
