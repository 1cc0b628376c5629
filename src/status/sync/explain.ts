import { changedPaths } from '../../patch/json-patch.ts';
import type { JsonObject } from '../../wire/types.ts';
import type { PodStatuses } from '../cache/pod-statuses.ts';
import type { AgentView } from './agent-view.ts';
import type { LastError } from './pod-sync-state.ts';
import type { SyncRecords } from './sync-records.ts';

/** Where a pod's newest status stands. */
export type PodSyncPhase =
  | 'unknown'
  | 'cache-only'
  | 'not-started'
  | 'in-sync'
  | 'terminal-phase-held-back'
  | 'pending'
  | 'in-flight'
  | 'paused'
  | 'backing-off'
  | 'quarantined'
  | 'gone'
  | 'no-mirror-pod'
  | 'deleting';

export interface PodExplanation {
  readonly podUID: string;
  readonly phase: PodSyncPhase;
  /** One sentence: why the newest status is, or is not, on the apiserver. */
  readonly reason: string;
  /** The newest version; undefined when no status is cached. */
  readonly version: number | undefined;
  /** The version the apiserver took last; 0 for none. */
  readonly acknowledgedVersion: number;
  /** The uid of the object on the apiserver: the mirror pod's for a static pod. */
  readonly apiUID: string | undefined;
  /** Failures in a row. */
  readonly failures: number;
  readonly lastError: LastError | undefined;
  /** When the next try is due, in milliseconds since the epoch. */
  readonly retryAt: number | undefined;
  /** JSON pointers into the status, where the freshest API copy known says something else. */
  readonly differs: readonly string[];
}

export interface ExplainView {
  readonly podStatuses: PodStatuses;
  readonly agent: AgentView;
  readonly records: SyncRecords | undefined;
  readonly running: boolean;
  readonly pausedUntil: number | undefined;
}

const reasons: Readonly<Record<PodSyncPhase, string>> = {
  unknown: 'no status was set for this pod, or its entry was dropped',
  'cache-only': 'the manager has no pod client and sends nothing',
  'not-started': 'the manager is not running',
  'in-sync': 'the newest version is on the apiserver',
  'terminal-phase-held-back': 'the terminal phase waits until no container of the pod could run any more',
  pending: 'the newest version waits for a free slot',
  'in-flight': 'a request for this pod is on its way',
  paused: 'the apiserver asked the whole client to wait',
  'backing-off': 'the last request failed and is tried again',
  quarantined: 'the apiserver refuses this status; it is tried again when the status or the API copy changes',
  gone: 'the apiserver knows no such pod',
  'no-mirror-pod': 'the static pod has no mirror pod on the apiserver',
  deleting: 'the deletion was accepted, and finalizers hold the object',
};

/** Why this pod's status is, or is not, on the apiserver. Changes nothing. */
export function explain(view: ExplainView, podUID: string): PodExplanation {
  const { podStatuses, agent, records } = view;
  const entry = podStatuses.get(podUID);
  const target = agent.target(podUID);
  const state = records?.state(podUID);
  const phase = phaseOf(view, podUID);
  const copy = target && agent.freshest(target);
  const lastError = state?.lastError;
  const because = lastError === undefined ? '' : ` (${lastError.errorClass}: ${lastError.message})`;
  return {
    podUID,
    phase,
    reason: `${reasons[phase]}${because}`,
    version: entry?.version,
    acknowledgedVersion: records?.acknowledgedVersion(podUID) ?? 0,
    apiUID: target?.apiUID,
    failures: state?.failures ?? 0,
    lastError,
    retryAt: state?.wait?.kind === 'backoff' ? state.wait.retryAt : phase === 'paused' ? view.pausedUntil : undefined,
    differs: entry && copy ? changedPaths(copy.status as JsonObject, entry.status as JsonObject) : [],
  };
}

/** {@link explain}'s phase alone, at no cost. */
export function phaseOf({ podStatuses, agent, records, running, pausedUntil }: ExplainView, podUID: string): PodSyncPhase {
  const entry = podStatuses.get(podUID);
  if (entry === undefined) return 'unknown';
  if (records === undefined) return 'cache-only';
  const state = records.state(podUID);
  if (state?.inFlight) return 'in-flight';
  if (state?.wait !== undefined) return state.wait.kind === 'backoff' ? 'backing-off' : state.wait.kind;
  if (agent.target(podUID) === undefined) return 'no-mirror-pod';
  if (records.acknowledgedVersion(podUID) >= entry.version) return state?.phaseHeldBack ? 'terminal-phase-held-back' : 'in-sync';
  if (!running) return 'not-started';
  return pausedUntil === undefined ? 'pending' : 'paused';
}
