import type { Pod, WirePodCondition, WirePodStatus } from '../../api/json/types.ts';
import { isTerminalPhase } from '../../api/pod/pod-identity.ts';
import { generateTerminalConditions } from '../conditions/generate-conditions.ts';
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
