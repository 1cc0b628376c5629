import type { WirePodCondition, WirePodStatus } from '../../../src/index.ts';
import type { Step } from './replay-scenario.ts';

/**
 * Upstream's rules for resize conditions (v1.36.3), written a second time for the replay alone, as `upstreamMerge` is. The
 * conditions and the answers of both sides are compared with them at every step.
 */
interface ResizeInput {
  readonly podUID: string;
  /** The pod's resize conditions before the step. */
  readonly before: readonly WirePodCondition[];
  /** The status that the pod manager shows of the pod: a backfill reads it. */
  readonly copy: WirePodStatus | undefined;
  /** The second of the step. */
  readonly now: string;
}

interface Resized {
  /** Pending before in-progress. */
  readonly conditions: readonly WirePodCondition[];
  /** The operation's answer; undefined where it has none. */
  readonly result: unknown;
}

type Says = Pick<WirePodCondition, 'reason' | 'message' | 'observedGeneration'>;

const pendingType = 'PodResizePending';
const inProgressType = 'PodResizeInProgress';

export function isResizeCondition({ type }: WirePodCondition): boolean {
  return type === pendingType || type === inProgressType;
}

/** What the step makes of the pod's resize conditions. Undefined when the step is about other things. */
export function resized(step: Step, input: ResizeInput): Resized | undefined {
  const { podUID, before, copy } = input;
  if (step.op === 'backfillPodResizeConditions') {
    if (!step.podUIDs?.includes(podUID)) return undefined;
    return { conditions: backfilled(before, copy?.conditions ?? [], input.now), result: undefined };
  }
  if (step.podUID !== podUID) return undefined;
  switch (step.op) {
    case 'setPodResizePendingCondition':
      return pendingSet(step, input);
    case 'setPodResizeInProgressCondition':
      return inProgressSet(step, input);
    case 'clearPodResizePendingCondition':
      return { conditions: without(before, pendingType), result: undefined };
    case 'clearPodResizeInProgressCondition': {
      const old = ofType(before, inProgressType);
      const result = { observedGeneration: old?.observedGeneration ?? 0, changed: old !== undefined };
      return { conditions: without(before, inProgressType), result };
    }
    default:
      return undefined;
  }
}

/** A backfill takes over what the copy says, and its time as a new one. What the copy says nothing of stays. */
function backfilled(before: readonly WirePodCondition[], found: readonly WirePodCondition[], now: string): WirePodCondition[] {
  let conditions = [...before];
  for (const condition of found) {
    if (isResizeCondition(condition)) conditions = placed(conditions, made(condition.type, condition, undefined, now));
  }
  return conditions;
}

function pendingSet({ reason: given, message, generation }: Step, { before, now }: ResizeInput): Resized {
  const reason = given === 'Infeasible' ? given : 'Deferred';
  const old = ofType(before, pendingType);
  const next = made(pendingType, saying(reason, message, generation), old, now);
  const result = old === undefined || old.reason !== reason || (old.observedGeneration ?? 0) !== (generation ?? 0);
  return { conditions: placed(before, next), result };
}

/** The first generation stays. A reason and a message that are both empty change nothing. */
function inProgressSet({ reason, message, generation }: Step, { before, now }: ResizeInput): Resized {
  const old = ofType(before, inProgressType);
  const says = old !== undefined && !reason && !message ? old : { reason, message };
  const observedGeneration = old === undefined ? generation : old.observedGeneration;
  const next = made(inProgressType, saying(says.reason, says.message, observedGeneration), old, now);
  const changed = old === undefined || (old.reason ?? '') !== (next.reason ?? '') || (old.message ?? '') !== (next.message ?? '');
  return { conditions: placed(before, next), result: { observedGeneration: observedGeneration ?? 0, changed } };
}

function saying(reason?: string, message?: string, observedGeneration?: number): Says {
  return { ...(reason && { reason }), ...(message && { message }), ...(observedGeneration && { observedGeneration }) };
}

function made(type: string, says: Says, old: WirePodCondition | undefined, now: string): WirePodCondition {
  const { reason, message, observedGeneration } = says;
  const isSame = old !== undefined && (old.reason ?? '') === (reason ?? '');
  const times = { lastProbeTime: now, lastTransitionTime: isSame ? old.lastTransitionTime : now };
  return { type, status: 'True', ...saying(reason, message, observedGeneration), ...times } as WirePodCondition;
}

function ofType(conditions: readonly WirePodCondition[], type: string): WirePodCondition | undefined {
  return conditions.find((condition) => condition.type === type);
}

function without(conditions: readonly WirePodCondition[], type: string): WirePodCondition[] {
  return conditions.filter((condition) => condition.type !== type);
}

function placed(conditions: readonly WirePodCondition[], next: WirePodCondition): WirePodCondition[] {
  const others = without(conditions, next.type);
  return next.type === pendingType ? [next, ...others] : [...others, next];
}
