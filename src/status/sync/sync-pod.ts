import { deletePod } from './delete-pod.ts';
import type { SyncAttempt, SyncContext } from './sync-context.ts';
import type { Acknowledged, SyncOutcome } from './sync-outcome.ts';
import { writeStatus } from './write-status.ts';

/**
 * One sync of one pod: PATCH, and DELETE once that is due. Where the apiserver refuses the first attempt, for a conflict or
 * as invalid, a second one follows against a copy just read. A third one follows where the second PATCH of a pod that is being
 * deleted has met a conflict: a deletion writes the pod when it begins, and again when the pod goes. After a 401 an attempt is
 * made anew, once: the client has fresh credentials for it. Yields as soon as a version is on the apiserver, before anything
 * else of the pod is sent; returns how the sync ended. A failed request is an outcome; only a defect throws.
 *
 * Behaviour of pkg/kubelet/status syncPod, v1.36.3; DIVERGENCES.md names the differences.
 */
export async function* syncPod(context: SyncContext, first: SyncAttempt): AsyncGenerator<Acknowledged, SyncOutcome, void> {
  const outcome = yield* attemptWithCredentials(context, first);
  if (!isRefused(outcome)) return outcome;
  const afterRead = { ...first, fetch: true, waitsOn: undefined };
  let last = yield* attemptWithCredentials(context, afterRead);
  if (hasMetDeletion(last)) last = yield* attemptWithCredentials(context, afterRead);
  return isRefused(last) && last.failure.errorClass === 'invalid' ? { ...last, kind: 'invalid' } : last;
}

async function* attemptWithCredentials(
  context: SyncContext,
  attempt: SyncAttempt,
): AsyncGenerator<Acknowledged, SyncOutcome, void> {
  const outcome = yield* attemptOnce(context, attempt);
  const isUnauthorized = outcome.kind === 'failed' && outcome.failure.errorClass === 'unauthorized';
  return isUnauthorized ? yield* attemptOnce(context, attempt) : outcome;
}

async function* attemptOnce(context: SyncContext, attempt: SyncAttempt): AsyncGenerator<Acknowledged, SyncOutcome, void> {
  const written = await writeStatus(context, attempt);
  if (written.kind !== 'acknowledged') return written;
  yield written;
  return await deletePod(context, attempt, written);
}

/** True for an outcome that another attempt, against a copy just read, may better. */
function isRefused(outcome: SyncOutcome): outcome is SyncOutcome & { readonly kind: 'invalid' | 'failed' } {
  if (outcome.kind !== 'failed' || outcome.failure.verb === 'get') return false;
  return outcome.failure.errorClass === 'conflict' || outcome.failure.errorClass === 'invalid';
}

/** True for a PATCH of a pod that is being deleted, where something has written the pod meanwhile. */
function hasMetDeletion(outcome: SyncOutcome): boolean {
  return isRefused(outcome) && outcome.copyIsDeleting === true && outcome.failure.errorClass === 'conflict';
}
