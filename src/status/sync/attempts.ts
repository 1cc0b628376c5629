import { callGuarded, ignoreFailure } from '../../base/guard.ts';
import type { LastError } from '../../client/resources/error-class.ts';
import type { PodSyncPhase } from './sync-phase.ts';
import type { SyncRecords } from './sync-records.ts';

/** How far the sending of one pod has come. */
export interface Attempts {
  readonly acknowledgedVersion: number;
  readonly failures: number;
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
    failures: state?.failures ?? 0,
    lastError: state?.lastError,
    retryAt: state?.wait?.kind === 'backoff' ? state.wait.retryAt : phase === 'paused' ? pausedUntil : undefined,
  };
}

/** The acknowledged version, to be shown: 0 where the pod manager fails to speak of the pod. */
export function shownVersion(records: SyncRecords | undefined, podUID: string): number {
  return callGuarded(() => records?.acknowledgedVersion(podUID), ignoreFailure) ?? 0;
}
