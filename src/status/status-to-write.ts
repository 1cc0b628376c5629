import type { WirePodStatus } from '../api/wire.ts';
import type { Clock } from '../concurrency/clock.ts';
import type { AgentView } from './agent-view.ts';
import type { ApiPod } from './api-copies.ts';
import { isTerminalPhase, mergePodStatus } from './merge-pod-status.ts';
import type { VersionedPodStatus } from './pod-statuses.ts';
import { withServerFillIns } from './server-fill-ins.ts';
import { formatTime } from './wire-time.ts';

export interface StatusToWriteContext {
  readonly agent: AgentView;
  readonly clock: Clock;
  readonly ownedConditionTypes: ReadonlySet<string>;
}

/** The status the apiserver is to have: the entry's, merged into the copy, with what the server fills in by itself. */
export function statusToWrite(
  { agent, clock, ownedConditionTypes }: StatusToWriteContext,
  podUID: string,
  entry: VersionedPodStatus,
  copy: ApiPod,
): WirePodStatus {
  const merged = mergePodStatus(copy.status, entry.status, {
    pod: { metadata: copy.generation === undefined ? {} : { generation: copy.generation } },
    couldHaveRunningContainers:
      isTerminalPhase(entry.status.phase) &&
      !isTerminalPhase(copy.status.phase) &&
      agent.podCouldHaveRunningContainers(podUID, entry),
    now: formatTime(clock.now()),
    ownedConditionTypes,
  });
  return withServerFillIns(merged, copy.status);
}
