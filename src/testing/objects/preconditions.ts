import type { JsonObject } from '../../api/json/types.ts';
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
import { objectAt, textAt } from './json-fields.ts';
import { keyOf } from './object-keys.ts';

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
  const key = `/registry/${of.resource}/${keyOf(old)}`;
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
