import type { JsonObject } from '../../api/json/types.ts';
import { conflict, type StatusCause } from '../objects/api-status.ts';
import { equalJson, numberAt, objectAt, objectsAt, textAt, without } from '../objects/json-fields.ts';
import { withServerMetadata } from '../objects/metadata.ts';
import { identityCauses } from '../objects/metadata-validation.ts';
import type { ObjectUpdate, WriteOptions } from '../objects/object-rules.ts';
import { withSpecDefaults, withStatusFillIns } from './pod-defaults.ts';
import { validateStatusUpdate } from './pod-status-validation.ts';
import { validateMetadataUpdate, validateSpecUpdate } from './pod-validation.ts';

/** A pod's metadata may break one more rule: a mirror pod stays one, of the same static pod. */
function metadataCauses(metadata: JsonObject, old: JsonObject, { validate }: WriteOptions): StatusCause[] {
  return validate ? validateMetadataUpdate(metadata, old) : identityCauses(metadata, old);
}

/** A write of the pod itself: the stored status stays; a changed spec gets a new generation. */
export function updatedPod(given: JsonObject, old: JsonObject, options: WriteOptions): ObjectUpdate {
  const oldMetadata = objectAt(old, 'metadata');
  const stored = objectAt(old, 'spec');
  const oldSpec = options.fillIns ? withSpecDefaults(stored) : stored;
  const metadata = withServerMetadata(objectAt(given, 'metadata'), oldMetadata, options.fillIns);
  const spec = options.fillIns ? withSpecDefaults(objectAt(given, 'spec')) : objectAt(given, 'spec');
  const causes = metadataCauses(metadata, oldMetadata, options);
  if (!equalJson(spec, oldSpec)) {
    if (options.validate) causes.push(...validateSpecUpdate(spec, oldSpec));
    const generation = numberAt(oldMetadata, 'generation');
    if (generation !== undefined) metadata.generation = generation + 1;
  }
  return { object: { ...old, metadata, spec: keptIfEqual(spec, oldSpec, stored) }, causes };
}

/** A pod stored by `put` lacks what the server fills in. Filling it in is no change. */
function keptIfEqual(next: JsonObject, filledIn: JsonObject, stored: JsonObject): JsonObject {
  return equalJson(next, filledIn) ? stored : next;
}

/** A write of the status subresource: the stored spec and owners stay; labels, annotations and finalizers may change. */
export function updatedStatus(given: JsonObject, old: JsonObject, options: WriteOptions): ObjectUpdate {
  const oldMetadata = objectAt(old, 'metadata');
  const { ownerReferences: _ignored, deletionTimestamp: _too, ...writable } = objectAt(given, 'metadata');
  const metadata = withServerMetadata(writable, oldMetadata, options.fillIns);
  if (oldMetadata.ownerReferences !== undefined) metadata.ownerReferences = oldMetadata.ownerReferences;
  const stored = objectAt(old, 'status');
  const oldStatus = options.fillIns ? withStatusFillIns(stored, stored) : stored;
  const status = options.fillIns ? withStatusFillIns(objectAt(given, 'status'), oldStatus) : objectAt(given, 'status');
  const causes = metadataCauses(metadata, oldMetadata, options);
  if (options.validate) causes.push(...validateStatusUpdate(status, oldStatus, objectAt(old, 'spec')));
  return { object: { ...old, metadata, status: keptIfEqual(status, oldStatus, stored) }, causes };
}

const binding = { group: '', resource: 'pods/binding' };

/** The pod bound to its node: with the condition PodScheduled, and without a nominated node. */
export function boundPod(old: JsonObject, nodeName: string, now: string): JsonObject {
  const name = textAt(objectAt(old, 'metadata'), 'name');
  const [spec, status] = [objectAt(old, 'spec'), objectAt(old, 'status')];
  if (objectAt(old, 'metadata').deletionTimestamp !== undefined) {
    throw conflict(name, `pod ${name} is being deleted, cannot be assigned to a host`, binding);
  }
  if (textAt(spec, 'nodeName') !== '') {
    throw conflict(name, `pod ${name} is already assigned to node "${textAt(spec, 'nodeName')}"`, binding);
  }
  const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now };
  const others = objectsAt(status, 'conditions').filter(({ type }) => type !== 'PodScheduled');
  const conditions = [...others, scheduled];
  return { ...old, spec: { ...spec, nodeName }, status: { ...without(status, 'nominatedNodeName'), conditions } };
}
