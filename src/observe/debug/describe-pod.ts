import { toWireJson } from '../../api/json/json.ts';
import type { DebugManager } from './board.ts';
import type { DebugPod, DebugPodRow } from './debug-api.ts';
import type { PodTimeline } from './pod-history.ts';
import { rowOf } from './pod-table.ts';

/** What is known of a pod beside what the manager says. */
export interface KnownOfPod {
  readonly timeline: PodTimeline | undefined;
  readonly node: DebugPod['node'];
}

/** A mirror pod's uid answers for its static pod. Undefined when neither the manager nor the timeline knows the pod. */
export function describePod(manager: DebugManager, uid: string, known: (podUID: string) => KnownOfPod): DebugPod | undefined {
  const { podUID, reason, differs, retryAt, version } = manager.explain(uid);
  const { timeline = { entries: [], dropped: 0 }, node } = known(podUID);
  const pod = manager.snapshot({ podUIDs: [podUID] }).pods[0];
  if (pod === undefined && timeline.entries.length === 0) return undefined;
  return {
    row: pod === undefined ? forgottenRow(podUID, timeline) : rowOf(pod),
    reason,
    differs,
    retryAt,
    node,
    timeline: timeline.entries,
    droppedEntries: timeline.dropped,
    status: version === undefined ? undefined : toWireJson(manager.getPodStatus(podUID)),
  };
}

/** The row of a pod that only its timeline tells of: the manager keeps nothing of it. */
function forgottenRow(podUID: string, { entries }: PodTimeline): DebugPodRow {
  const set = entries.findLast((entry) => entry.kind === 'set');
  return {
    podUID,
    namespace: '',
    name: podUID,
    phase: undefined,
    ready: false,
    restarts: 0,
    sync: 'unknown',
    version: set?.version ?? 0,
    acknowledgedVersion: entries.findLast((entry) => entry.kind === 'synced')?.version ?? 0,
    failures: 0,
    isStatic: false,
    isDeleting: false,
    changedAt: set?.at ?? 0,
  };
}
