import type { WirePodCondition, WirePodStatus } from '../../../src/index.ts';

/**
 * Upstream's mergePodStatus (v1.36.3), written a second time for the replay alone: what a PATCH must leave on the server.
 * Nothing of it comes from src, so that a mistake there is not made here too. Every recorded PATCH is compared with it.
 */
export interface MergeInput {
  /** The status on the server before the PATCH. */
  readonly server: WirePodStatus;
  readonly cached: WirePodStatus;
  /** The `metadata.generation` of the pod on the server. */
  readonly generation: number | undefined;
  readonly couldHaveRunningContainers: boolean;
  /** The second of the PATCH. */
  readonly now: string;
}

const kubeletsOwn: ReadonlySet<string> = new Set([
  'PodScheduled',
  'Ready',
  'Initialized',
  'ContainersReady',
  'PodResizeInProgress',
  'PodResizePending',
  'PodReadyToStartContainers',
  'AllContainersRestarting',
]);
const othersMembers = ['resourceClaimStatuses', 'extendedResourceClaimStatus', 'nodeAllocatableResourceClaimStatuses'] as const;
const heldMembers = ['phase', 'reason', 'message'] as const;
const endReasons: Readonly<Record<string, string>> = { Failed: 'PodFailed', Succeeded: 'PodCompleted' };

export function isTerminal(phase: string | undefined): boolean {
  return phase !== undefined && phase in endReasons;
}

export function upstreamMerge(input: MergeInput): WirePodStatus {
  const { server, cached, couldHaveRunningContainers: held } = input;
  const ends = !isTerminal(server.phase) && isTerminal(cached.phase);
  const conditions = (server.conditions ?? []).filter(({ type }) => !kubeletsOwn.has(type));
  for (const condition of cached.conditions ?? []) {
    if (kubeletsOwn.has(condition.type)) conditions.push(condition);
    else if (condition.type === 'DisruptionTarget' && ends && !held) place(conditions, disruption(input, condition));
  }
  const merged: Record<string, unknown> & WirePodStatus = { ...cached, conditions };
  for (const member of othersMembers) copyMember(member, server, merged);
  if (ends && held) for (const member of heldMembers) copyMember(member, server, merged);
  const ready = (type: string): boolean => conditions.find((condition) => condition.type === type)?.status === 'True';
  if (isTerminal(merged.phase) && (ready('Ready') || ready('ContainersReady'))) {
    for (const type of ['ContainersReady', 'Ready']) place(conditions, ended(input, type, merged.phase, conditions));
  }
  return merged;
}

/** The merge sets this condition again when the pod ends. Its time is the server's when the server says the same, and the PATCH's otherwise. */
function disruption({ server, now }: MergeInput, condition: WirePodCondition): WirePodCondition {
  const old = server.conditions?.find(({ type }) => type === condition.type);
  return withTime(condition, old?.status === condition.status ? old.lastTransitionTime : now);
}

function ended(
  { generation, now }: MergeInput,
  type: string,
  phase: string | undefined,
  conditions: readonly WirePodCondition[],
): WirePodCondition {
  const old = conditions.find((condition) => condition.type === type);
  const reason = endReasons[phase ?? ''];
  const condition = { type, status: 'False', ...(reason && { reason }), ...(generation && { observedGeneration: generation }) };
  return withTime(condition, old?.status === 'False' ? old.lastTransitionTime : now);
}

function withTime({ lastTransitionTime: _, ...condition }: WirePodCondition, time: string | undefined): WirePodCondition {
  return time ? { ...condition, lastTransitionTime: time } : condition;
}

function place(conditions: WirePodCondition[], condition: WirePodCondition): void {
  const index = conditions.findIndex(({ type }) => type === condition.type);
  if (index < 0) conditions.push(condition);
  else conditions[index] = condition;
}

function copyMember(member: string, from: object, to: Record<string, unknown>): void {
  const value = (from as Record<string, unknown>)[member];
  if (value === undefined) delete to[member];
  else to[member] = value;
}
