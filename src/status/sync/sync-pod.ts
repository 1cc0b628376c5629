import { copyJson } from '../../api/json/json.ts';
import { formatTime } from '../../api/json/time.ts';
import type { Json, WirePod, WirePodStatus } from '../../api/json/types.ts';
import { applyPodStatusPatch, type CreatedPodStatusPatch, createWirePodStatusPatch } from '../../api/patch/pod-status-patch.ts';
import { isTerminalPhase } from '../../api/pod/pod-identity.ts';
import type { Clock } from '../../base/clock.ts';
import type { MetricLabels } from '../../base/metrics/metric-definitions.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import type { PodMetadata } from '../../client/resources/kube-pod-client.ts';
import { mergePodStatus } from '../rules/merge-pod-status.ts';
import { withServerFillIns } from '../rules/server-fill-ins.ts';
import type { VersionedPodStatus } from '../status-cache.ts';
import type { AgentView, ApiTarget } from './agent-view.ts';
import { type ApiPod, apiPodOf, patchedApiPod } from './api-copies.ts';
import { RequestFailure } from './request-failure.ts';
import type { GateToken } from './request-gate.ts';
import { type Acknowledged, isStillSo, type SyncAttempt, type SyncContext, type SyncOutcome } from './sync-context.ts';

/** Yields each version that is on the apiserver, and returns how it ended. */
type Steps = AsyncGenerator<Acknowledged, SyncOutcome, void>;

/**
 * One sync of one pod: PATCH, and DELETE once that is due. Where the apiserver refuses the first attempt, for a conflict or
 * as invalid, a second one follows against a copy just read. A third one follows where the second PATCH of a pod that is being
 * deleted has met a conflict: a deletion writes the pod when it begins, and again when the pod goes. After a 401 an attempt is
 * made anew, once: the client has fresh credentials for it. Yields as soon as a version is on the apiserver, before anything
 * else of the pod is sent; returns how the sync ended. A failed request is an outcome; only a defect throws.
 *
 * Behaviour of pkg/kubelet/status syncPod, v1.36.3; docs/divergences names the differences.
 */
async function* syncPod(context: SyncContext, first: SyncAttempt): Steps {
  const outcome = yield* attemptWithCredentials(context, first);
  if (!isRefused(outcome)) return outcome;
  const afterRead = { ...first, fetch: true, waitsOn: undefined };
  let last = yield* attemptWithCredentials(context, afterRead);
  if (hasMetDeletion(last)) last = yield* attemptWithCredentials(context, afterRead);
  return isRefused(last) && last.failure.errorClass === 'invalid' ? { ...last, kind: 'invalid' } : last;
}

async function* attemptWithCredentials(context: SyncContext, attempt: SyncAttempt): Steps {
  const outcome = yield* attemptOnce(context, attempt);
  const isUnauthorized = outcome.kind === 'failed' && outcome.failure.errorClass === 'unauthorized';
  return isUnauthorized ? yield* attemptOnce(context, attempt) : outcome;
}

async function* attemptOnce(context: SyncContext, attempt: SyncAttempt): Steps {
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

type CountedOutcome = MetricLabels['pod_status_manager_syncs_total']['outcome'];

/** The same as {@link syncPod}, counted by how it ends. */
export function countedSync(context: SyncContext, attempt: SyncAttempt): Steps {
  const steps = syncPod(context, attempt);
  return context.metrics.isUsed ? counted(context.metrics, steps) : steps;
}

async function* counted(metrics: Metrics, steps: Steps): Steps {
  let outcome: CountedOutcome = 'failed';
  let patched = false;
  try {
    for (;;) {
      const step = await steps.next();
      if (step.done) {
        outcome = countedOutcome(step.value, patched);
        return step.value;
      }
      patched = step.value.patched;
      yield step.value;
    }
  } finally {
    metrics.increment('pod_status_manager_syncs_total', { outcome });
  }
}

function countedOutcome(outcome: SyncOutcome, patched: boolean): CountedOutcome {
  switch (outcome.kind) {
    case 'done':
      return patched ? 'patched' : 'unchanged';
    case 'waits-on':
      return 'waits';
    case 'invalid':
      return 'quarantined';
    case 'failed':
      return outcome.failure.errorClass === 'aborted' ? 'aborted' : 'failed';
    default:
      return outcome.kind;
  }
}

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
  { podUID, token, waitsOn }: SyncAttempt,
  target: ApiTarget,
  progress: Progress,
): Promise<SyncOutcome | undefined> {
  const { entry } = progress;
  const read = await readPod(context, podUID, entry, token);
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
  { podUID, token }: SyncAttempt,
  { apiUID }: ApiTarget,
  progress: Progress,
): Promise<Acknowledged | SyncOutcome> {
  const { gate, podClient, podStatuses, patchFormat: format } = context;
  await gate.admit(token);
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
  const answer: unknown = await gate.sendAdmitted(subject, token, (limits) =>
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

export interface StatusToWriteContext {
  readonly agent: AgentView;
  readonly clock: Clock;
  readonly ownedConditionTypes: ReadonlySet<string>;
}

/** The status the apiserver is to have: the entry's, merged into the copy, with what the server fills in by itself. */
export function statusToWrite(
  { agent, clock, ownedConditionTypes }: StatusToWriteContext,
  podUID: string,
  entry: VersionedPodStatus,
  copy: ApiPod,
): WirePodStatus {
  const merged = mergePodStatus(copy.status, entry.status, {
    pod: { metadata: copy.generation === undefined ? {} : { generation: copy.generation } },
    couldHaveRunningContainers:
      isTerminalPhase(entry.status.phase) &&
      !isTerminalPhase(copy.status.phase) &&
      agent.podCouldHaveRunningContainers(podUID, entry),
    now: formatTime(clock.now()),
    ownedConditionTypes,
  });
  return withServerFillIns(merged, copy.status);
}

/** The pod as the apiserver has it now. Rejects with a {@link RequestFailure}, also for an answer that is no pod. */
async function readPod(
  { gate, podClient }: SyncContext,
  podUID: string,
  { podNamespace, podName }: VersionedPodStatus,
  token: GateToken,
): Promise<ApiPod> {
  const pod = await gate.send({ verb: 'get', podUID }, token, (limits) => podClient.getPod(podNamespace, podName, limits));
  try {
    if (!isPod(pod)) throw new TypeError('getPod() must resolve to a pod');
    return apiPodOf(pod);
  } catch (error) {
    throw new RequestFailure('get', 'broken-answer', error);
  }
}

/** True for an object whose metadata has no uid, or a uid that is text. */
function isPod(pod: WirePod | null | undefined): boolean {
  const metadata = pod?.metadata;
  return typeof metadata === 'object' && metadata !== null && ['undefined', 'string'].includes(typeof metadata.uid);
}

/** True for a pod of another uid. A copy without a uid says nothing about whose it is. */
function isOtherPod(agent: AgentView, podUID: string, copy: ApiPod): boolean {
  return copy.uid !== '' && agent.translate(copy.uid) !== podUID;
}

/**
 * True when the failure says that the apiserver has no such pod. The Node authorizer answers Forbidden, and not NotFound, for
 * a deleted pod of its node: a Forbidden for a vanished pod means the same.
 */
function isPodGone(agent: AgentView, podUID: string, { errorClass, answer }: RequestFailure): boolean {
  if (errorClass === 'gone') return true;
  return errorClass === 'forbidden' && answer.reason === 'Forbidden' && agent.hasVanished(podUID);
}

/**
 * True when the pod's object may be deleted: it is being deleted, it is no mirror pod, the apiserver shows a terminal
 * phase, the agent has finished with it and its resources are reclaimed.
 */
export function canBeDeleted(agent: AgentView, podUID: string, entry: VersionedPodStatus, copy: ApiPod): boolean {
  if (!copy.deleting || copy.isMirrorPod || !isTerminalPhase(copy.status.phase) || !entry.podIsFinished) return false;
  return agent.podResourcesAreReclaimed(podUID, entry);
}

/** Deletes the pod whose status was acknowledged, when that is due. A failed request is an outcome; only a defect rejects. */
async function deletePod(context: SyncContext, { podUID, token }: SyncAttempt, acknowledged: Acknowledged): Promise<SyncOutcome> {
  const { agent, gate, podClient, podStatuses } = context;
  const { entry, copy } = acknowledged;
  if (!canBeDeleted(agent, podUID, entry, copy)) return { kind: 'done' };
  if (!gate.isOpenFor(token)) {
    await gate.admit(token);
    // meanwhile the agent may have set another status, and the deletion safety may say another thing
    if (podStatuses.get(podUID) !== entry || !canBeDeleted(agent, podUID, entry, copy)) return { kind: 'done' };
  }
  const { podNamespace, podName } = entry;
  try {
    const left: unknown = await gate.send({ verb: 'delete', podUID }, token, (limits) =>
      podClient.deletePod(podNamespace, podName, { ...limits, gracePeriodSeconds: 0, uid: copy.uid }),
    );
    return outcomeOf(left);
  } catch (failure) {
    if (!isConflict(failure)) return outcomeOfFailure(agent, podUID, acknowledged, failure);
    // either another pod has this name, or the server was busy: only a GET tells
    try {
      const read = await readPod(context, podUID, entry, token);
      return isOtherPod(agent, podUID, read) ? { kind: 'recreated' } : outcomeOfFailure(agent, podUID, acknowledged, failure);
    } catch (failureOfGet) {
      return outcomeOfFailure(agent, podUID, acknowledged, failureOfGet);
    }
  }
}

function isConflict(failure: unknown): boolean {
  return failure instanceof RequestFailure && failure.errorClass === 'conflict';
}

function outcomeOfFailure(agent: AgentView, podUID: string, { entry, copy }: Acknowledged, failure: unknown): SyncOutcome {
  if (!(failure instanceof RequestFailure)) throw failure;
  if (isPodGone(agent, podUID, failure)) return { kind: 'deleted' };
  return { kind: 'failed', failure, version: entry.version, resourceVersion: copy.resourceVersion };
}

/** What the answer to a DELETE says: the pod is gone, or finalizers hold it. */
function outcomeOf(answer: unknown): SyncOutcome {
  if (answer === undefined) return { kind: 'deleted' };
  const { finalizers = [], resourceVersion } = (answer ?? {}) as Partial<PodMetadata>;
  if (typeof answer === 'object' && Array.isArray(finalizers)) {
    if (finalizers.length === 0) return { kind: 'deleted' };
    if (typeof resourceVersion === 'string') return { kind: 'deleting', resourceVersion };
  }
  const error = new TypeError('deletePod() must resolve to the metadata of the pod, or to undefined');
  throw new RequestFailure('delete', 'broken-answer', error);
}
