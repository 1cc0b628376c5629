import { formatTime } from '../../api/json/time.ts';
import type { JsonObject } from '../../api/json/types.ts';
import { storedKeyOf } from './api-names.ts';
import {
  conflict,
  invalidObject,
  invalidValue,
  otherName,
  otherNamespace,
  type ResourceNames,
  staleResourceVersion,
  unforeseen,
} from './api-status.ts';
import { numberAt, objectAt, textAt, textsAt } from './selectors.ts';

/** What a DELETE asks for. */
export interface DeleteRequest {
  /** Counts for pods alone. */
  readonly gracePeriodSeconds?: number | undefined;
  /** What has to be true of the stored object; where it is not, the answer is 409 Conflict. */
  readonly preconditions?:
    | {
        /** The uid of the object. */
        readonly uid?: string | undefined;
        /** The resourceVersion of the object. */
        readonly resourceVersion?: string | undefined;
      }
    | undefined;
  /** `Foreground` and `Orphan` hold the object with a finalizer for the garbage collector. Default `Background`. */
  readonly propagationPolicy?: PropagationPolicy | undefined;
}

/** What is to become of the objects that the deleted one owns. */
export type PropagationPolicy = 'Background' | 'Foreground' | 'Orphan';

/** The effect of a DELETE. `marked` is the object with new deletion times (undefined: unchanged). `gone`: it is removed at once. */
export interface DeletionOutcome {
  readonly marked: JsonObject | undefined;
  readonly gone: boolean;
}

/** Throws 409 for a precondition that does not hold. */
export function checkPreconditions(object: JsonObject, { preconditions }: DeleteRequest, of: ResourceNames): void {
  const metadata = objectAt(object, 'metadata');
  for (const [key, field] of [
    ['uid', 'UID'],
    ['resourceVersion', 'ResourceVersion'],
  ] as const) {
    const wanted = preconditions?.[key];
    const found = textAt(metadata, key);
    if (wanted === undefined || wanted === found) continue;
    const hint = key === 'uid' ? 'The object might have been deleted and then recreated' : 'The object might have been modified';
    const why = `the ${field} in the precondition (${wanted}) does not match the ${field} in record (${found}). ${hint}`;
    throw conflict(textAt(metadata, 'name'), why, { group: of.group, resource: of.kind });
  }
}

const collectorFinalizers: Readonly<Record<PropagationPolicy, readonly string[]>> = {
  Background: [],
  Foreground: ['foregroundDeletion'],
  Orphan: ['orphan'],
};

/** The object with the finalizers of the garbage collector that the policy asks for; the same object when it has them. */
export function withPropagation(object: JsonObject, policy: PropagationPolicy | undefined): JsonObject {
  if (policy === undefined) return object;
  const metadata = objectAt(object, 'metadata');
  const before = textsAt(metadata, 'finalizers');
  const others = before.filter((finalizer) => finalizer !== 'orphan' && finalizer !== 'foregroundDeletion');
  const finalizers = [...others, ...collectorFinalizers[policy]];
  if (finalizers.length === before.length && finalizers.every((finalizer) => before.includes(finalizer))) return object;
  return { ...object, metadata: { ...metadata, finalizers } };
}

/** The effect of a DELETE where nothing has a grace period: only finalizers hold an object. */
export function decidePlainDeletion(object: JsonObject, _request: DeleteRequest, nowMs: number): DeletionOutcome {
  const metadata = objectAt(object, 'metadata');
  if (textsAt(metadata, 'finalizers').length === 0) return { marked: undefined, gone: true };
  if (metadata.deletionTimestamp !== undefined) return { marked: undefined, gone: false };
  return { marked: withDeletionTimes(object, 0, nowMs), gone: false };
}

/** The object as being deleted. The first deletion times are a change that its generation counts, where it has one. */
export function withDeletionTimes(object: JsonObject, seconds: number, deleteAtMs: number): JsonObject {
  const metadata = objectAt(object, 'metadata');
  const times = { deletionTimestamp: formatTime(deleteAtMs), deletionGracePeriodSeconds: seconds };
  const generation = numberAt(metadata, 'generation');
  const isFirst = metadata.deletionTimestamp === undefined;
  const bumped = isFirst && generation !== undefined ? { generation: generation + 1 } : {};
  return { ...object, metadata: { ...metadata, ...times, ...bumped } };
}

/** True when an update removes the last finalizer of a deleting object that has no grace period left. */
export function isReleased(before: JsonObject, after: JsonObject): boolean {
  const old = objectAt(before, 'metadata');
  if (textsAt(objectAt(after, 'metadata'), 'finalizers').length > 0 || old.deletionTimestamp === undefined) return false;
  return (numberAt(old, 'deletionGracePeriodSeconds') ?? 0) === 0;
}

// The preconditions in the metadata that a client sends. They hold or the request is refused, whatever else it says.

/** Refuses an update that names another object than the URL, or another resourceVersion than the stored one. */
export function checkTarget(given: JsonObject, old: JsonObject, of: ResourceNames): void {
  const [name, wanted] = [textAt(given, 'name'), textAt(given, 'resourceVersion')];
  if (name !== '' && name !== old.name) throw otherName(name, textAt(old, 'name'));
  if (textAt(given, 'namespace') !== '' && given.namespace !== old.namespace) throw otherNamespace();
  if (wanted === '' || wanted === old.resourceVersion) return;
  if (/\D/.test(wanted)) throw unforeseen(`strconv.ParseUint: parsing ${JSON.stringify(wanted)}: invalid syntax`);
  throw staleResourceVersion(textAt(old, 'name'), of);
}

/** Refuses a PUT of an object with another uid than the stored one. */
export function checkUID(given: JsonObject, old: JsonObject, of: ResourceNames): void {
  const metadata = objectAt(old, 'metadata');
  const [uid, found] = [textAt(given, 'uid'), textAt(metadata, 'uid')];
  if (uid === '' || uid === found) return;
  const key = `/registry/${of.resource}/${storedKeyOf(old)}`;
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${found}`;
  const error = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`;
  throw conflict(textAt(metadata, 'name'), error, of);
}

/** Refuses a PUT without a resourceVersion of a resource that must have one. */
export function requireVersion(given: JsonObject, name: string, of: ResourceNames): void {
  if (textAt(given, 'resourceVersion') !== '') return;
  const cause = invalidValue('metadata.resourceVersion', 0, 'must be specified for an update');
  throw invalidObject(name, [cause], { group: of.group, kind: of.resource });
}

/** Refuses to create an object that has a resourceVersion: it was read from a server, and not made. */
export function checkUnversioned(metadata: JsonObject): void {
  const version = textAt(metadata, 'resourceVersion');
  if (version !== '' && version !== '0') throw unforeseen('resourceVersion should not be set on objects to be created');
}
