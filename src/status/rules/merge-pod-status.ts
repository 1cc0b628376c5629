import { lookupByName } from '../../api/json/json.ts';
import type { Pod, PodStatus, WireContainerStatus, WirePodCondition, WirePodStatus } from '../../api/json/types.ts';
import { isTerminalPhase } from '../../api/pod/pod-identity.ts';
import { normalizeStatus } from '../canonical/normalize-status.ts';
import {
  generateContainersReadyCondition,
  generatePodReadyCondition,
  generateTerminalConditions,
} from '../conditions/generate-conditions.ts';
import {
  getPodCondition,
  isOwnedConditionType,
  isSharedConditionType,
  podConditionLookup,
  replaceOrAppendPodCondition,
  withLastTransitionTime,
} from '../conditions/pod-conditions.ts';
import { foreignFields } from './pod-status-equality.ts';

export interface MergeOptions {
  /** The apiserver's pod, for its generation. */
  readonly pod: Pod;
  readonly couldHaveRunningContainers: boolean;
  /** The time of a transition that happens now, in canonical form. */
  readonly now: string;
  /** Condition types of the agent's own, beside the kubelet's. */
  readonly ownedConditionTypes?: ReadonlySet<string> | undefined;
}

/**
 * What goes to the apiserver: our status over its own. Conditions of other owners stay, in place; a terminal phase
 * is held back while containers could run; a terminal pod is never Ready. Changes neither input.
 *
 * Behaviour of pkg/kubelet/status mergePodStatus, v1.36.3.
 */
export function mergePodStatus(old: WirePodStatus, next: WirePodStatus, options: MergeOptions): WirePodStatus {
  const { couldHaveRunningContainers: held, now } = options;
  const transition = !isTerminalPhase(old.phase) && isTerminalPhase(next.phase);
  const merged: WirePodStatus & Record<string, unknown> = { ...next };
  setOrDelete(merged, 'conditions', nonEmpty(mergeConditions(old, next, transition && !held, options)));
  const ofOthers = old as Record<string, unknown>;
  for (const field of foreignFields) setOrDelete(merged, field, ofOthers[field]);
  if (transition && held) {
    setOrDelete(merged, 'phase', old.phase);
    setOrDelete(merged, 'reason', old.reason);
    setOrDelete(merged, 'message', old.message);
  }
  if (isTerminalPhase(merged.phase)) notReadyWhenTerminal(merged, old, options.pod, now);
  return merged;
}

function mergeConditions(old: WirePodStatus, next: WirePodStatus, ending: boolean, options: MergeOptions): WirePodCondition[] {
  const owned = (type: string): boolean => isOwnedConditionType(type, options.ownedConditionTypes);
  const conditions = (old.conditions ?? []).filter(({ type }) => !owned(type));
  const previousOf = podConditionLookup(old.conditions);
  const places = new Map<string, number>();
  for (const condition of next.conditions ?? []) {
    const { type } = condition;
    if (owned(type)) {
      conditions.push(condition);
    } else if (isSharedConditionType(type) && ending) {
      const place = places.get(type) ?? indexOfType(conditions, type);
      places.set(type, place);
      conditions[place] = withLastTransitionTime(condition, previousOf(type), options.now);
    }
  }
  return conditions;
}

/** Where the first condition of the type stands, or else the end of the list. */
function indexOfType(conditions: readonly WirePodCondition[], type: string): number {
  const index = conditions.findIndex((condition) => condition.type === type);
  return index < 0 ? conditions.length : index;
}

function notReadyWhenTerminal(merged: WirePodStatus, old: WirePodStatus, pod: Pod, now: string): void {
  const ready = (type: string): boolean => getPodCondition(merged.conditions, type)?.status === 'True';
  if (!ready('Ready') && !ready('ContainersReady')) return;
  let conditions: readonly WirePodCondition[] = merged.conditions ?? [];
  for (const condition of generateTerminalConditions(pod, old, merged.phase)) {
    const ours = getPodCondition(conditions, condition.type);
    const theirs = getPodCondition(old.conditions, condition.type);
    // a readiness ended by an earlier merge ended then: a new time each batch would be a patch each batch
    const previous = ours?.status === condition.status || theirs?.reason !== condition.reason ? ours : theirs;
    conditions = replaceOrAppendPodCondition(conditions, withLastTransitionTime(condition, previous, now));
  }
  merged.conditions = [...conditions];
}

function nonEmpty<T>(list: T[]): T[] | undefined {
  return list.length === 0 ? undefined : list;
}

function setOrDelete(target: Record<string, unknown>, key: string, value: unknown): void {
  if (value === undefined) delete target[key];
  else target[key] = value;
}

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
