import { isTerminalPhase } from '../../pod/pod-phase.ts';
import { formatTime } from '../../wire/time.ts';
import type { JsonObject } from '../../wire/types.ts';
import { conflict } from './api-status.ts';
import { numberAt, objectAt, textAt, textsAt } from './json-fields.ts';

export interface DeletePodRequest {
  readonly gracePeriodSeconds?: number | undefined;
  readonly preconditions?: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined } | undefined;
}

/** The effect of a DELETE. `marked` is the pod with new deletion times (undefined: unchanged). `gone`: it is removed at once. */
export interface DeletionOutcome {
  readonly marked: JsonObject | undefined;
  readonly gone: boolean;
}

function checkPreconditions(metadata: JsonObject, { preconditions }: DeletePodRequest): void {
  for (const [key, field] of [
    ['uid', 'UID'],
    ['resourceVersion', 'ResourceVersion'],
  ] as const) {
    const wanted = preconditions?.[key];
    const found = textAt(metadata, key);
    if (wanted === undefined || wanted === found) continue;
    const hint = key === 'uid' ? 'The object might have been deleted and then recreated' : 'The object might have been modified';
    const why = `the ${field} in the precondition (${wanted}) does not match the ${field} in record (${found}). ${hint}`;
    throw conflict(textAt(metadata, 'name'), why, 'Pod');
  }
}

/** The grace period of a pod not yet deleting, in seconds: 0 when the pod is on no node or has ended. */
function firstGracePeriod(pod: JsonObject, requested: number | undefined): number {
  const spec = objectAt(pod, 'spec');
  const phase = textAt(objectAt(pod, 'status'), 'phase');
  if (textAt(spec, 'nodeName') === '' || isTerminalPhase(phase)) return 0;
  const period = requested ?? numberAt(spec, 'terminationGracePeriodSeconds') ?? 30;
  return period < 0 ? 1 : period;
}

function mark(pod: JsonObject, seconds: number, deleteAtMs: number): JsonObject {
  const metadata = objectAt(pod, 'metadata');
  const times = { deletionTimestamp: formatTime(deleteAtMs), deletionGracePeriodSeconds: seconds };
  const generation = numberAt(metadata, 'generation');
  const isFirst = metadata.deletionTimestamp === undefined;
  const bumped = isFirst && generation !== undefined ? { generation: generation + 1 } : {};
  return { ...pod, metadata: { ...metadata, ...times, ...bumped } };
}

/** A further DELETE can only shorten the grace period of a deleting pod. */
function shorten(pod: JsonObject, requested: number | undefined, nowMs: number): JsonObject | undefined {
  const metadata = objectAt(pod, 'metadata');
  const current = numberAt(metadata, 'deletionGracePeriodSeconds') ?? 0;
  const period = requested !== undefined && requested < 0 ? 1 : requested;
  if (period === undefined || period >= current) return undefined;
  const asked = Date.parse(textAt(metadata, 'deletionTimestamp')) + (period - current) * 1000;
  if (asked >= nowMs) return mark(pod, period, asked);
  return mark(pod, period === 0 ? 0 : 1, nowMs);
}

/** Decides the effect of a DELETE and changes nothing. Throws 409 for a precondition that does not hold. */
export function decideDeletion(pod: JsonObject, request: DeletePodRequest, nowMs: number): DeletionOutcome {
  const metadata = objectAt(pod, 'metadata');
  checkPreconditions(metadata, request);
  const isHeld = textsAt(metadata, 'finalizers').length > 0;
  if (metadata.deletionTimestamp === undefined) {
    const seconds = firstGracePeriod(pod, request.gracePeriodSeconds);
    return { marked: mark(pod, seconds, nowMs + seconds * 1000), gone: seconds === 0 && !isHeld };
  }
  if ((numberAt(metadata, 'deletionGracePeriodSeconds') ?? 0) === 0) return { marked: undefined, gone: !isHeld };
  const marked = shorten(pod, request.gracePeriodSeconds, nowMs);
  const gone = marked !== undefined && objectAt(marked, 'metadata').deletionGracePeriodSeconds === 0 && !isHeld;
  return { marked, gone };
}

/** True when an update removes the last finalizer of a deleting pod that has no grace period left. */
export function isReleased(before: JsonObject, after: JsonObject): boolean {
  const old = objectAt(before, 'metadata');
  if (textsAt(objectAt(after, 'metadata'), 'finalizers').length > 0 || old.deletionTimestamp === undefined) return false;
  return (numberAt(old, 'deletionGracePeriodSeconds') ?? 0) === 0;
}
