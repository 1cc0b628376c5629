import { formatTime } from '../../api/json/time.ts';
import type { WirePodStatus } from '../../api/json/types.ts';
import { isTerminalPhase } from '../../api/pod/pod-identity.ts';
import type { Clock } from '../../base/clock.ts';
import type { VersionedPodStatus } from '../cache/pod-statuses.ts';
import { mergePodStatus } from '../rules/merge-pod-status.ts';
import { withServerFillIns } from '../rules/server-fill-ins.ts';
import type { AgentView } from './agent-view.ts';
import type { ApiPod } from './api-copies.ts';

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
