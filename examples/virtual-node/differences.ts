import type { V1PodStatus } from '@kubernetes/client-node';
import { createPodStatusPatch, type WirePod, type WirePodCondition } from 'pod-status-manager';
import type { PodRef } from './pod-owners.ts';

/** The conditions that the node writes; every other one on a pod belongs to another writer. */
const ownConditions: ReadonlySet<string> = new Set([
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
]);

export interface Comparison {
  /** Pods on the server. */
  readonly serverPods: readonly WirePod[];
  /** Pods the agent has. */
  readonly agentUIDs: ReadonlySet<string>;
  /** Pods that their owners have created and not deleted, by uid. */
  readonly alive: ReadonlyMap<string, PodRef>;
  readonly getPodStatus: (podUID: string) => V1PodStatus | undefined;
  /** The foreign controller's conditions, by pod uid. */
  readonly foreignConditions: ReadonlyMap<string, WirePodCondition>;
}

/** One sentence for each difference between the server's pods and the manager's statuses. */
export function findDifferences(comparison: Comparison): string[] {
  const { serverPods, agentUIDs, alive } = comparison;
  const known = new Set(serverPods.map(({ metadata }) => metadata?.uid));
  const lost = [...agentUIDs].filter((uid) => !known.has(uid));
  const taken = [...alive.values()].filter(({ uid }) => !known.has(uid));
  return [
    ...serverPods.flatMap((pod) => differencesOf(pod, comparison)),
    ...lost.map((uid) => `${uid}: the agent has it, the server does not`),
    ...taken.map(({ name }) => `${name}: it is gone, and its owner has not deleted it`),
  ];
}

function differencesOf(pod: WirePod, { agentUIDs, alive, getPodStatus, foreignConditions }: Comparison): string[] {
  const { name = '', uid = '' } = pod.metadata ?? {};
  const ours = getPodStatus(uid);
  if (!agentUIDs.has(uid)) return [`${name}: the server has it, the agent does not`];
  if (ours === undefined) return [`${name}: the manager has no status of it`];
  const found: string[] = [];
  if (pod.metadata?.deletionTimestamp !== undefined) {
    found.push(alive.has(uid) ? `${name}: somebody who is not its owner has deleted it` : `${name}: it is still being deleted`);
  }
  const fields = differingFields(pod, ours);
  if (fields.length > 0) found.push(`${name}: the server differs in ${fields.join(', ')}`);
  const written = foreignConditions.get(uid);
  const there = pod.status?.conditions?.find(({ type }) => type === written?.type);
  if (written !== undefined && (there?.status !== written.status || there.message !== written.message)) {
    found.push(`${name}: condition ${written.type} is not as its owner wrote it`);
  }
  return found;
}

/**
 * The top-level fields in which the server's status differs from the manager's. `qosClass`, which the server fills in, and
 * the conditions of other writers are no difference.
 */
function differingFields({ metadata, status = {} }: WirePod, ours: V1PodStatus): string[] {
  const foreign = (status.conditions ?? []).filter(({ type }) => !ownConditions.has(type));
  const own = (ours.conditions ?? []).filter(({ type }) => ownConditions.has(type));
  const { qosClass } = status;
  const wanted = { ...(qosClass !== undefined && { qosClass }), ...ours, conditions: [...own, ...foreign] };
  const { body } = createPodStatusPatch(status, wanted, { uid: metadata?.uid ?? '' });
  return Object.keys(body.status ?? {}).filter((key) => !key.startsWith('$'));
}
