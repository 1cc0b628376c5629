import { lookupByName } from '../../api/json/json.ts';
import type { Pod, PodStatus, WireContainerStatus, WirePodStatus } from '../../api/json/types.ts';
import { normalizeStatus } from '../canonical/normalize-status.ts';
import { generateContainersReadyCondition, generatePodReadyCondition } from '../conditions/generate-conditions.ts';
import { getPodCondition, replaceOrAppendPodCondition } from '../conditions/pod-conditions.ts';

const lists = ['containerStatuses', 'initContainerStatuses'] as const;

/**
 * The agent's first status of a pod after a restart, with what only probes and counters know taken over from the API
 * copy (`pod.status`): a container that runs on as the same container stays `ready` and `started` until a probe says
 * otherwise, whatever `status` says of it, and no restart count goes back. Nothing is made up: a container that neither
 * side calls ready or started is neither. Ready and ContainersReady, where the status has them, are generated anew.
 * Neither input is changed. Throws ERR_INVALID_ARGUMENT for a value that is no status.
 *
 * For the first status only: a later one has the results of the agent's own probes in it, and this would hide them.
 * Without it an agent that restarts makes every pod unready until its probes have run (KEP-4781).
 *
 * @example
 * ```ts
 * import { carryOverContainerStatuses } from 'pod-status-manager';
 *
 * const app = { name: 'app', image: 'app:1', imageID: '', containerID: 'c://1', restartCount: 2, state: { running: {} } };
 * const pod = { metadata: { uid: 'u1' }, status: { phase: 'Running', containerStatuses: [{ ...app, ready: true }] } };
 * // the agent has just started, and no probe has run
 * const first = { phase: 'Running', containerStatuses: [{ ...app, ready: false, restartCount: 0 }] };
 * const { containerStatuses } = carryOverContainerStatuses(pod, first);
 * console.log(containerStatuses?.[0]?.ready, containerStatuses?.[0]?.restartCount); // true 2
 * ```
 */
export function carryOverContainerStatuses(pod: Pod, status: PodStatus): WirePodStatus {
  const next = normalizeStatus(pod, status);
  const before = normalizeStatus(pod, pod.status ?? {});
  for (const list of lists) {
    const oldOf = lookupByName(before[list]);
    const carried = next[list]?.map((container) => carriedOver(container, oldOf(container.name)));
    if (carried !== undefined) next[list] = carried;
  }
  return withReadyConditions(pod, before, next);
}

function carriedOver(container: WireContainerStatus, old: WireContainerStatus | undefined): WireContainerStatus {
  if (old === undefined) return container;
  const restartCount = Math.max(old.restartCount, container.restartCount);
  if (!runsOn(old, container)) return { ...container, restartCount };
  const started = container.started || old.started || (container.started ?? old.started);
  return { ...container, restartCount, ready: container.ready || old.ready, ...(started !== undefined && { started }) };
}

/** The same container, running then and now. */
function runsOn(old: WireContainerStatus, container: WireContainerStatus): boolean {
  if (!old.state?.running || !container.state?.running) return false;
  return old.containerID !== undefined && old.containerID === container.containerID;
}

function withReadyConditions(pod: Pod, before: WirePodStatus, status: WirePodStatus): WirePodStatus {
  const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  let conditions = status.conditions;
  for (const condition of [
    generatePodReadyCondition(pod, before, gateConditions(before, status), statuses, status.phase),
    generateContainersReadyCondition(pod, before, statuses, status.phase),
  ]) {
    if (getPodCondition(conditions, condition.type) !== undefined) {
      conditions = replaceOrAppendPodCondition(conditions, condition);
    }
  }
  return conditions === undefined ? status : { ...status, conditions };
}

/** Readiness gates are other writers' conditions: they stand in the API copy. */
function gateConditions(before: WirePodStatus, status: WirePodStatus): NonNullable<WirePodStatus['conditions']> {
  return [...(before.conditions ?? []), ...(status.conditions ?? [])];
}
