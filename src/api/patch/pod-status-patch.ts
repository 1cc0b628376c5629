import { invalidArgument, invalidOption } from '../../base/errors.ts';
import { requireKnownOptions } from '../../base/options.ts';
import { isJsonObject, member, toWireObject } from '../json/json.ts';
import { containerStatusLists } from '../json/status-members.ts';
import type { JsonObject, PodStatus, WirePodStatus } from '../json/types.ts';
import { applyJsonPatch, createGuardedJsonPatch, type Operation } from './json-patch.ts';
import { podStatusSchema } from './patch-schemas.ts';
import { applyPodPatch, createStrategicMergePatch } from './strategic-merge-patch.ts';

/** The media types of the two patch formats. */
export type PodStatusPatchType = 'application/strategic-merge-patch+json' | 'application/json-patch+json';

/** A PATCH of a pod's `status` subresource. */
export interface PodStatusPatch {
  /** The media type of the body. */
  readonly type: PodStatusPatchType;
  /** The body: an object for a strategic merge patch, a list of operations for a JSON Patch. */
  readonly body: unknown;
}

/** A strategic merge patch, or a JSON Patch (RFC 6902). */
export type PatchFormat = 'strategic' | 'json';

/** What a patch is guarded by, and its format. */
export interface CreatePodStatusPatchOptions {
  /** The API pod's uid: the patch fails against any other pod. */
  readonly uid: string;
  /** The resourceVersion of the copy that the old status is from: the patch fails against any other. */
  readonly resourceVersion?: string | undefined;
  /** Default `strategic`. */
  readonly format?: PatchFormat | undefined;
}

/** A strategic merge patch of a pod's status. */
export interface StrategicPodStatusPatch extends PodStatusPatch {
  /** The media type of the body. */
  readonly type: 'application/strategic-merge-patch+json';
  /** The uid and the resourceVersion as the precondition, and the members that change. */
  readonly body: JsonObject;
  /** True when the patch would change nothing: there is no need to send it. */
  readonly unchanged: boolean;
}

/** A JSON Patch of a pod's status. */
export interface JsonPodStatusPatch extends PodStatusPatch {
  /** The media type of the body. */
  readonly type: 'application/json-patch+json';
  /** Tests of the uid, of the resourceVersion and of the list elements, then the changes. */
  readonly body: Operation[];
  /** True when the patch would change nothing: there is no need to send it. */
  readonly unchanged: boolean;
}

/** What {@link createPodStatusPatch} gives. */
export type CreatedPodStatusPatch = StrategicPodStatusPatch | JsonPodStatusPatch;

/**
 * The smallest patch that turns the old status of the pod `uid` into the new one, and works on no other pod. Throws ERR_INVALID_OPTION for an option that it does not know.
 *
 * @example
 * ```ts
 * import { createPodStatusPatch } from 'pod-status-manager';
 *
 * const { body } = createPodStatusPatch({ phase: 'Pending' }, { phase: 'Running' }, { uid: 'u1', resourceVersion: '7' });
 * console.log(JSON.stringify(body)); // {"metadata":{"uid":"u1","resourceVersion":"7"},"status":{"phase":"Running"}}
 * ```
 */
export function createPodStatusPatch(
  oldStatus: PodStatus,
  newStatus: PodStatus,
  options: CreatePodStatusPatchOptions & { readonly format?: 'strategic' },
): StrategicPodStatusPatch;
export function createPodStatusPatch(
  oldStatus: PodStatus,
  newStatus: PodStatus,
  options: CreatePodStatusPatchOptions,
): CreatedPodStatusPatch;
export function createPodStatusPatch(
  oldStatus: PodStatus,
  newStatus: PodStatus,
  options: CreatePodStatusPatchOptions,
): CreatedPodStatusPatch {
  requireKnownOptions('options', options, ['uid', 'resourceVersion', 'format']);
  return createPatch(toWireObject(oldStatus, 'oldStatus'), toWireObject(newStatus, 'newStatus'), options);
}

/** {@link createPodStatusPatch} for statuses that are wire JSON already. The patch shares values with `next`. */
export function createWirePodStatusPatch(
  old: WirePodStatus,
  next: WirePodStatus,
  options: CreatePodStatusPatchOptions,
): CreatedPodStatusPatch {
  return createPatch(asJsonObject(old), asJsonObject(next), options);
}

/**
 * The status a pod has after the patch, whatever its metadata: the guards on uid and resourceVersion count as met.
 *
 * @example
 * ```ts
 * import { applyPodStatusPatch, createPodStatusPatch } from 'pod-status-manager';
 *
 * const patch = createPodStatusPatch({ phase: 'Pending' }, { phase: 'Running' }, { uid: 'u1', format: 'json' });
 * console.log(applyPodStatusPatch({ phase: 'Pending' }, patch).phase); // Running
 * ```
 */
export function applyPodStatusPatch(status: PodStatus, patch: PodStatusPatch): WirePodStatus {
  const pod = { status: toWireObject(status, 'status') };
  return (member(applyToPod(pod, patch), 'status') ?? {}) as WirePodStatus;
}

function applyToPod(pod: JsonObject, { type, body }: PodStatusPatch): JsonObject {
  if (type === 'application/json-patch+json') {
    if (!Array.isArray(body)) throw invalidArgument('patch.body', 'a list of operations', body);
    return applyJsonPatch(
      pod,
      body.filter((operation) => !isMetadataTest(operation)),
    );
  }
  if (type !== 'application/strategic-merge-patch+json')
    throw invalidArgument('patch.type', 'one of the two patch media types', type);
  if (!isJsonObject(body)) throw invalidArgument('patch.body', 'an object', body);
  return applyPodPatch(pod, body);
}

function isMetadataTest(operation: unknown): boolean {
  return isJsonObject(operation) && operation.op === 'test' && String(operation.path).startsWith('/metadata/');
}

function createPatch(old: JsonObject, next: JsonObject, options: CreatePodStatusPatchOptions): CreatedPodStatusPatch {
  const { uid, resourceVersion, format = 'strategic' } = options;
  if (typeof uid !== 'string' || uid === '') throw invalidOption('uid', 'a non-empty string', uid);
  if (format === 'json') {
    const body = createGuardedJsonPatch(old, next, { uid, resourceVersion });
    return { type: 'application/json-patch+json', body, unchanged: body.length === 0 };
  }
  if (format !== 'strategic') throw invalidOption('format', "'strategic' or 'json'", format);
  const metadata: JsonObject = resourceVersion === undefined ? { uid } : { uid, resourceVersion };
  const status = createStrategicMergePatch(old, next, podStatusSchema);
  const unchanged = isEmpty(status);
  const body: JsonObject = unchanged ? { metadata } : { metadata, status: withEncodedContainers(status) };
  return { type: 'application/strategic-merge-patch+json', body, unchanged };
}

/** Container statuses as the API encodes them, with the members that are always there. They go out whole, so this makes up nothing. */
function withEncodedContainers(status: JsonObject): JsonObject {
  for (const key of containerStatusLists) {
    const list = status[key];
    if (Array.isArray(list)) status[key] = list.map((item) => (isJsonObject(item) ? { ...containerZero(), ...item } : item));
  }
  return status;
}

const containerZero = (): JsonObject => ({ image: '', imageID: '', lastState: {}, ready: false, restartCount: 0, state: {} });

function isEmpty(object: JsonObject): boolean {
  for (const _ in object) return false;
  return true;
}

/** Wire types hold JSON values alone; their optional members make them no index type. */
function asJsonObject(status: WirePodStatus): JsonObject {
  return status as unknown as JsonObject;
}
