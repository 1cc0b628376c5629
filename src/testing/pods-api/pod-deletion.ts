import type { JsonObject } from '../../api/json/types.ts';
import { isTerminalPhase } from '../../api/pod/pod-identity.ts';
import { type DeleteRequest, type DeletionOutcome, withDeletionTimes } from '../objects/deletion.ts';
import { numberAt, objectAt, textAt, textsAt } from '../objects/json-fields.ts';

/** The grace period of a pod not yet deleting, in seconds: 0 when the pod is on no node or has ended. */
function firstGracePeriod(pod: JsonObject, requested: number | undefined): number {
  const spec = objectAt(pod, 'spec');
  const phase = textAt(objectAt(pod, 'status'), 'phase');
  if (textAt(spec, 'nodeName') === '' || isTerminalPhase(phase)) return 0;
  const period = requested ?? numberAt(spec, 'terminationGracePeriodSeconds') ?? 30;
  return period < 0 ? 1 : period;
}

/** A further DELETE can only shorten the grace period of a deleting pod. */
function shorten(pod: JsonObject, requested: number | undefined, nowMs: number): JsonObject | undefined {
  const metadata = objectAt(pod, 'metadata');
  const current = numberAt(metadata, 'deletionGracePeriodSeconds') ?? 0;
  const period = requested !== undefined && requested < 0 ? 1 : requested;
  if (period === undefined || period >= current) return undefined;
  const asked = Date.parse(textAt(metadata, 'deletionTimestamp')) + (period - current) * 1000;
  if (asked >= nowMs) return withDeletionTimes(pod, period, asked);
  return withDeletionTimes(pod, period === 0 ? 0 : 1, nowMs);
}

/** Decides the effect of a DELETE and changes nothing. */
export function decidePodDeletion(pod: JsonObject, request: DeleteRequest, nowMs: number): DeletionOutcome {
  const metadata = objectAt(pod, 'metadata');
  const isHeld = textsAt(metadata, 'finalizers').length > 0;
  if (metadata.deletionTimestamp === undefined) {
    const seconds = firstGracePeriod(pod, request.gracePeriodSeconds);
    return { marked: withDeletionTimes(pod, seconds, nowMs + seconds * 1000), gone: seconds === 0 && !isHeld };
  }
  if ((numberAt(metadata, 'deletionGracePeriodSeconds') ?? 0) === 0) return { marked: undefined, gone: !isHeld };
  const marked = shorten(pod, request.gracePeriodSeconds, nowMs);
  const gone = marked !== undefined && objectAt(marked, 'metadata').deletionGracePeriodSeconds === 0 && !isHeld;
  return { marked, gone };
}
