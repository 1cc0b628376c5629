import type { PodStatusReader, VersionedPodStatus } from '../cache/pod-statuses.ts';
import type { ApiTarget } from './agent-view.ts';
import { showsRunningContainer } from './finish-when-reclaimed.ts';
import { type ReasonContext, reasonToSync, type SyncReason } from './reason-to-sync.ts';
import type { SyncRecords } from './sync-records.ts';
import { isOvertaken, mayTry } from './wait.ts';

export interface LookContext extends ReasonContext {
  readonly podStatuses: PodStatusReader;
  readonly records: SyncRecords;
}

/** What a look at a pod has found. */
export type Finding =
  /** All is well, or something is on its way already. */
  | { readonly kind: 'nothing' }
  /** Nothing is left to do for the pod: its status is to be dropped. */
  | { readonly kind: 'over' }
  /** What the pod waited for is over, and there is nothing to send. */
  | { readonly kind: 'wait-is-over' }
  /** The apiserver refused the status of a pod that has vanished since: it is to be read, for it may be gone there, too. */
  | { readonly kind: 'to-read' }
  | {
      readonly kind: 'to-send';
      readonly reason: SyncReason;
      readonly target: ApiTarget;
      readonly waitIsOver: boolean;
    };

const nothing: Finding = { kind: 'nothing' };

/** Looks at one pod, as each batch does with every pod. Changes nothing. */
export function lookAt(context: LookContext, podUID: string): Finding {
  const { agent, podStatuses, records } = context;
  const entry = podStatuses.get(podUID);
  const target = agent.target(podUID);
  const state = records.state(podUID);
  if (entry === undefined || target === undefined || state?.underWay !== undefined) return nothing;
  if (isOver(context, podUID, entry)) return { kind: 'over' };
  const wait = state?.wait;
  const resourceVersion = agent.freshest(target)?.resourceVersion;
  const isHeldByFinalizers = wait?.kind === 'deleting';
  const wasListed = wait?.kind === 'deleting' && agent.wasListedSince(wait.since);
  const waitIsOver = isOvertaken(wait, resourceVersion, wasListed) || (!isHeldByFinalizers && mayTry(wait, entry.version));
  if (!waitIsOver && wait?.kind === 'quarantined' && agent.hasVanished(podUID)) return { kind: 'to-read' };
  if (!waitIsOver && !isHeldByFinalizers) return nothing;
  const reason = reasonToSync(context, podUID, entry, target, state?.phaseHeldBack);
  // an accepted DELETE is not sent again, but a foreign write to the pod is repaired
  if (reason !== undefined && (waitIsOver || reason !== 'delete')) return { kind: 'to-send', reason, target, waitIsOver };
  return waitIsOver && wait !== undefined ? { kind: 'wait-is-over' } : nothing;
}

/**
 * True when nothing is left to do for the pod. The pod manager does not show it; nothing of it runs, by its newest status and
 * by the deletion safety; and the apiserver does not know it, or the pod has vanished after its newest status was acknowledged,
 * its terminal phase included.
 */
function isOver({ agent, records }: LookContext, podUID: string, entry: VersionedPodStatus): boolean {
  if (agent.pod(podUID) !== undefined || showsRunningContainer(entry.status)) return false;
  const state = records.state(podUID);
  const isGone = state?.wait?.kind === 'gone';
  const isWritten = !state?.phaseHeldBack && records.acknowledgedVersion(podUID) >= entry.version;
  const isSettled = isGone || (agent.hasVanished(podUID) && isWritten);
  return isSettled && !agent.podCouldHaveRunningContainers(podUID, entry);
}
