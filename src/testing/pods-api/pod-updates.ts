import type { JsonObject } from '../../wire/types.ts';
import { conflict, invalidValue, type StatusCause } from './api-status.ts';
import { equalJson, numberAt, objectAt, objectsAt, textAt, without } from './json-fields.ts';
import { withSpecDefaults, withStatusFillIns, withTidyMetadata } from './pod-defaults.ts';
import { validateStatusUpdate } from './pod-status-validation.ts';
import { validateMetadataUpdate, validateSpecUpdate } from './pod-validation.ts';

export interface UpdateRules {
  readonly validate: boolean;
  readonly fillIns: boolean;
}

export interface PodUpdate {
  readonly pod: JsonObject;
  /** The rules that the update breaks; empty when the server accepts it. */
  readonly causes: readonly StatusCause[];
}

/** The metadata with the stored values of the members that no client can write. */
function withServerMetadata(given: JsonObject, old: JsonObject, rules: UpdateRules): JsonObject {
  const metadata: JsonObject = rules.fillIns ? withTidyMetadata(given) : { ...given };
  for (const key of ['resourceVersion', 'creationTimestamp', 'generation', 'uid', 'namespace', 'name']) {
    const isGiven = metadata[key] !== undefined && metadata[key] !== null && metadata[key] !== '';
    const isIdentity = key === 'uid' || key === 'namespace' || key === 'name';
    if (isIdentity && isGiven) continue;
    if (old[key] === undefined) delete metadata[key];
    else metadata[key] = old[key];
  }
  if (old.deletionTimestamp !== undefined) metadata.deletionTimestamp = old.deletionTimestamp;
  if (old.deletionGracePeriodSeconds !== undefined) metadata.deletionGracePeriodSeconds ??= old.deletionGracePeriodSeconds;
  return metadata;
}

/** Even a store that validates nothing refuses another pod's uid: it is a precondition, not a rule about contents. */
function metadataCauses(metadata: JsonObject, old: JsonObject, rules: UpdateRules): StatusCause[] {
  if (rules.validate) return validateMetadataUpdate(metadata, old);
  return metadata.uid === old.uid ? [] : [invalidValue('metadata.uid', metadata.uid, 'field is immutable')];
}

/** A write of the pod itself: the stored status stays; a changed spec gets a new generation. */
export function updatedPod(given: JsonObject, old: JsonObject, rules: UpdateRules): PodUpdate {
  const oldMetadata = objectAt(old, 'metadata');
  const stored = objectAt(old, 'spec');
  const oldSpec = rules.fillIns ? withSpecDefaults(stored) : stored;
  const metadata = withServerMetadata(objectAt(given, 'metadata'), oldMetadata, rules);
  const spec = rules.fillIns ? withSpecDefaults(objectAt(given, 'spec')) : objectAt(given, 'spec');
  const causes = metadataCauses(metadata, oldMetadata, rules);
  if (!equalJson(spec, oldSpec)) {
    if (rules.validate) causes.push(...validateSpecUpdate(spec, oldSpec));
    const generation = numberAt(oldMetadata, 'generation');
    if (generation !== undefined) metadata.generation = generation + 1;
  }
  return { pod: { ...old, metadata, spec: keptIfEqual(spec, oldSpec, stored) }, causes };
}

/** A pod stored by `put` lacks what the server fills in. Filling it in is no change. */
function keptIfEqual(next: JsonObject, filledIn: JsonObject, stored: JsonObject): JsonObject {
  return equalJson(next, filledIn) ? stored : next;
}

/** A write of the status subresource: the stored spec and owners stay; labels, annotations and finalizers may change. */
export function updatedStatus(given: JsonObject, old: JsonObject, rules: UpdateRules): PodUpdate {
  const oldMetadata = objectAt(old, 'metadata');
  const { ownerReferences: _ignored, deletionTimestamp: _too, ...writable } = objectAt(given, 'metadata');
  const metadata = withServerMetadata(writable, oldMetadata, rules);
  if (oldMetadata.ownerReferences !== undefined) metadata.ownerReferences = oldMetadata.ownerReferences;
  const stored = objectAt(old, 'status');
  const oldStatus = rules.fillIns ? withStatusFillIns(stored, stored) : stored;
  const status = rules.fillIns ? withStatusFillIns(objectAt(given, 'status'), oldStatus) : objectAt(given, 'status');
  const causes = metadataCauses(metadata, oldMetadata, rules);
  if (rules.validate) causes.push(...validateStatusUpdate(status, oldStatus, objectAt(old, 'spec')));
  return { pod: { ...old, metadata, status: keptIfEqual(status, oldStatus, stored) }, causes };
}

/** The pod bound to its node: with the condition PodScheduled, and without a nominated node. */
export function boundPod(old: JsonObject, nodeName: string, now: string): JsonObject {
  const name = textAt(objectAt(old, 'metadata'), 'name');
  const [spec, status] = [objectAt(old, 'spec'), objectAt(old, 'status')];
  if (objectAt(old, 'metadata').deletionTimestamp !== undefined) {
    throw conflict(name, `pod ${name} is being deleted, cannot be assigned to a host`, 'pods/binding');
  }
  if (textAt(spec, 'nodeName') !== '') {
    throw conflict(name, `pod ${name} is already assigned to node "${textAt(spec, 'nodeName')}"`, 'pods/binding');
  }
  const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now };
  const others = objectsAt(status, 'conditions').filter(({ type }) => type !== 'PodScheduled');
  const conditions = [...others, scheduled];
  return { ...old, spec: { ...spec, nodeName }, status: { ...without(status, 'nominatedNodeName'), conditions } };
}
