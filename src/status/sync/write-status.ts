import { copyJson } from '../../api/json/json.ts';
import type { Json } from '../../api/json/types.ts';
import { applyPodStatusPatch, type CreatedPodStatusPatch, createWirePodStatusPatch } from '../../api/patch/pod-status-patch.ts';
import type { PodMetadata } from '../../client/resources/pod-client.ts';
import type { VersionedPodStatus } from '../cache/pod-statuses.ts';
import type { ApiTarget } from './agent-view.ts';
import { type ApiPod, patchedApiPod } from './api-copies.ts';
import { isOtherPod, isPodGone, readPod } from './read-pod.ts';
import { RequestFailure } from './request-failure.ts';
import { statusToWrite } from './status-to-write.ts';
import type { SyncAttempt, SyncContext } from './sync-context.ts';
import type { Acknowledged, SyncOutcome } from './sync-outcome.ts';
import { isStillSo } from './wait.ts';

/** How far an attempt has come: a failure speaks of this version, against this copy. */
interface Progress {
  entry: VersionedPodStatus;
  base: ApiPod | undefined;
}

/**
 * Brings the newest status of one pod to the apiserver: freshest copy -> merge -> PATCH. A GET comes first only when no
 * copy is known or the attempt asks for one. A failed request is an outcome; only a defect rejects.
 */
export async function writeStatus(context: SyncContext, attempt: SyncAttempt): Promise<Acknowledged | SyncOutcome> {
  const { podUID } = attempt;
  const target = context.agent.target(podUID);
  const entry = context.podStatuses.get(podUID);
  if (entry === undefined) return { kind: 'done' };
  if (target === undefined) return { kind: 'no-mirror-pod' };
  const progress: Progress = { entry, base: context.agent.freshest(target) };
  try {
    const isKnown = !attempt.fetch && progress.base !== undefined;
    const written = isKnown ? await patch(context, attempt, target, progress) : undefined;
    if (written !== undefined && (written.kind !== 'acknowledged' || written.patched || !attempt.inDoubt)) return written;
    return (await fetchCopy(context, attempt, target, progress)) ?? (await patch(context, attempt, target, progress));
  } catch (failure) {
    if (!(failure instanceof RequestFailure)) throw failure;
    const { version } = progress.entry;
    const resourceVersion = progress.base?.resourceVersion;
    if (isPodGone(context.agent, podUID, failure)) return { kind: 'gone', version, resourceVersion };
    return { kind: 'failed', failure, version, resourceVersion, copyIsDeleting: progress.base?.deleting === true };
  }
}

/** Reads the pod. An outcome when that is the end of the attempt; otherwise the patch is computed against what was read. */
async function fetchCopy(
  context: SyncContext,
  { podUID, admission, waitsOn }: SyncAttempt,
  target: ApiTarget,
  progress: Progress,
): Promise<SyncOutcome | undefined> {
  const { entry } = progress;
  const read = await readPod(context, podUID, entry, admission);
  if (isOtherPod(context.agent, podUID, read)) return replaced(podUID, target, progress);
  // while the answer was on its way the agent may have set another status, or the status may have been dropped
  const newest = context.podStatuses.get(podUID);
  if (newest === undefined) return { kind: 'done' };
  context.copies.record(read);
  progress.entry = newest;
  progress.base = read;
  if (waitsOn === undefined || !isStillSo(waitsOn, read.resourceVersion)) return undefined;
  // a status that was set meanwhile is sent next, against this copy
  return { kind: 'waits-on', wait: waitsOn, version: entry.version };
}

/**
 * Another pod has this name. That ends an ordinary pod; a static pod lives on, and has lost a mirror pod: its status
 * waits for the pod manager to show the next one.
 */
function replaced(podUID: string, target: ApiTarget, { entry, base }: Progress): SyncOutcome {
  if (target.apiUID === podUID) return { kind: 'recreated' };
  return { kind: 'gone', version: entry.version, resourceVersion: base?.resourceVersion };
}

/** Sends the newest status, and what the merge makes of it: both are looked at when nothing is left to wait for. */
async function patch(
  context: SyncContext,
  { podUID, admission }: SyncAttempt,
  { apiUID }: ApiTarget,
  progress: Progress,
): Promise<Acknowledged | SyncOutcome> {
  const { gate, podClient, podStatuses, patchFormat: format } = context;
  await gate.admit(admission);
  const entry = podStatuses.get(podUID);
  if (entry === undefined) return { kind: 'done' };
  progress.entry = entry;
  const { base } = progress;
  if (base === undefined) throw new TypeError('there is no copy to compute a patch against');
  const status = statusToWrite(context, podUID, entry, base);
  const phaseHeldBack = status.phase !== entry.status.phase;
  const { resourceVersion } = base;
  const change = createWirePodStatusPatch(base.status, status, {
    uid: base.uid || apiUID,
    format,
    ...(resourceVersion !== undefined && { resourceVersion }),
  });
  if (change.unchanged) return { kind: 'acknowledged', entry, copy: base, phaseHeldBack, patched: false };
  const subject = { verb: 'patch', podUID, body: change.body as Json } as const;
  const answer: unknown = await gate.sendAdmitted(subject, admission, (limits) =>
    podClient.patchPodStatus(entry.podNamespace, entry.podName, handedOut(change), limits),
  );
  const metadata = requireMetadata(answer, base);
  // a strategic merge patch leaves exactly the merged status; a JSON Patch leaves conditions in the server's order
  const left = format === 'json' ? applyPodStatusPatch(base.status, change) : status;
  return { kind: 'acknowledged', entry, copy: patchedApiPod(base, left, metadata), phaseHeldBack, patched: true };
}

/** The patch for the pod client. Its body is a copy: the client may change it, and must not change the cached status. */
function handedOut(change: CreatedPodStatusPatch): CreatedPodStatusPatch {
  return { ...change, body: copyJson(change.body as Json) } as CreatedPodStatusPatch;
}

function requireMetadata(answer: unknown, base: ApiPod): PodMetadata {
  const { uid, resourceVersion } = (answer ?? {}) as Partial<PodMetadata>;
  const isOurs = typeof uid === 'string' && (uid === '' || base.uid === '' || uid === base.uid);
  if (isOurs && typeof resourceVersion === 'string') return answer as PodMetadata;
  const error = new TypeError('patchPodStatus() must resolve to the metadata of the pod, with its uid and resourceVersion');
  throw new RequestFailure('patch', 'broken-answer', error);
}
