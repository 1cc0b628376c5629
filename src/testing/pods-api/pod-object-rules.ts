import { isEqualJson } from '../../api/json/json.ts';
import type { Json, JsonObject } from '../../api/json/types.ts';
import { podSchema } from '../../api/patch/patch-schemas.ts';
import { isTerminalPhase } from '../../api/pod/pod-identity.ts';
import { computePodQOSClass } from '../../api/pod/pod-qos-class.ts';
import {
  conflict,
  forbiddenChange,
  invalidValue,
  requiredValue,
  type StatusCause,
  unsupportedValue,
} from '../objects/api-status.ts';
import { type DeleteRequest, type DeletionOutcome, withDeletionTimes } from '../objects/deletion.ts';
import { identityCauses, metadataUpdateCauses, nameCauses, newMetadataCauses, withServerMetadata } from '../objects/metadata.ts';
import { fieldsBeside, numberAt, objectAt, objectsAt, textAt, textsAt, without } from '../objects/selectors.ts';
import type { ObjectRules, ObjectUpdate, StoreWriteOptions } from '../objects/store-types.ts';
import { shapePodStatus, validateStatusUpdate } from './pod-status-fields.ts';

const inSpec = (key: string) => (pod: JsonObject) => textAt(objectAt(pod, 'spec'), key);
const inStatus = (key: string) => (pod: JsonObject) => textAt(objectAt(pod, 'status'), key);

/** A new pod: the status that the client sent is ignored. */
function newPod(pod: JsonObject): JsonObject {
  const spec = withSpecDefaults(objectAt(pod, 'spec'));
  const metadata = { ...objectAt(pod, 'metadata'), generation: 1 };
  return { kind: 'Pod', apiVersion: 'v1', metadata, spec, status: initialStatus(spec) };
}

/** What is special of pods: the status, grace periods, and the few members that an update may change. */
export const podRules: ObjectRules = {
  fields: fieldsBeside({
    'spec.nodeName': inSpec('nodeName'),
    'spec.restartPolicy': inSpec('restartPolicy'),
    'spec.schedulerName': inSpec('schedulerName'),
    'spec.serviceAccountName': inSpec('serviceAccountName'),
    'spec.hostNetwork': (pod) => String(objectAt(pod, 'spec').hostNetwork === true),
    'status.phase': inStatus('phase'),
    'status.podIP': inStatus('podIP'),
    'status.nominatedNodeName': inStatus('nominatedNodeName'),
  }),
  patchSchema: podSchema,
  blank: { spec: { containers: null }, status: {} },
  returnsDeleted: true,
  fillIn: newPod,
  validateCreate: validatePodCreate,
  update: updatedPod,
  updateStatus: updatedStatus,
  decideDeletion: decidePodDeletion,
};

/** A pod's metadata may break one more rule: a mirror pod stays one, of the same static pod. */
function metadataCauses(metadata: JsonObject, old: JsonObject, { validate }: StoreWriteOptions): StatusCause[] {
  return validate ? validateMetadataUpdate(metadata, old) : identityCauses(metadata, old);
}

/** A write of the pod itself: the stored status stays; a changed spec gets a new generation. */
function updatedPod(given: JsonObject, old: JsonObject, options: StoreWriteOptions): ObjectUpdate {
  const oldMetadata = objectAt(old, 'metadata');
  const stored = objectAt(old, 'spec');
  const oldSpec = options.fillIns ? withSpecDefaults(stored) : stored;
  const metadata = withServerMetadata(objectAt(given, 'metadata'), oldMetadata, options.fillIns);
  const spec = options.fillIns ? withSpecDefaults(objectAt(given, 'spec')) : objectAt(given, 'spec');
  const causes = metadataCauses(metadata, oldMetadata, options);
  if (!isEqualJson(spec, oldSpec)) {
    if (options.validate) causes.push(...validateSpecUpdate(spec, oldSpec));
    const generation = numberAt(oldMetadata, 'generation');
    if (generation !== undefined) metadata.generation = generation + 1;
  }
  return { object: { ...old, metadata, spec: keptIfEqual(spec, oldSpec, stored) }, causes };
}

/** A pod stored by `put` lacks what the server fills in. Filling it in is no change. */
function keptIfEqual(next: JsonObject, filledIn: JsonObject, stored: JsonObject): JsonObject {
  return isEqualJson(next, filledIn) ? stored : next;
}

/** A write of the status subresource: the stored spec and owners stay; labels, annotations and finalizers may change. */
function updatedStatus(given: JsonObject, old: JsonObject, options: StoreWriteOptions): ObjectUpdate {
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

// The rules for a pod's metadata and spec, as far as tests of a node agent need them.

const mirrorAnnotation = 'kubernetes.io/config.mirror';
const updatableFields =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** The rules that a new pod breaks; empty when it breaks none. */
function validatePodCreate(pod: JsonObject): StatusCause[] {
  const spec = objectAt(pod, 'spec');
  const metadata = objectAt(pod, 'metadata');
  const causes = [...nameCauses(metadata), ...newMetadataCauses(metadata)];
  const mirror = objectAt(metadata, 'annotations')[mirrorAnnotation];
  if (mirror !== undefined && textAt(spec, 'nodeName') === '') {
    const why = 'must set spec.nodeName if mirror pod annotation is set';
    causes.push(invalidValue(`metadata.annotations[${mirrorAnnotation}]`, mirror, why));
  }
  const containers = objectsAt(spec, 'containers');
  if (containers.length === 0) causes.push(requiredValue('spec.containers'));
  containers.forEach((container, index) => {
    for (const key of ['name', 'image']) {
      if (textAt(container, key) === '') causes.push(requiredValue(`spec.containers[${index}].${key}`));
    }
  });
  const restartPolicy = textAt(spec, 'restartPolicy');
  if (!['Always', 'OnFailure', 'Never'].includes(restartPolicy)) {
    causes.push(unsupportedValue('spec.restartPolicy', restartPolicy, ['Always', 'OnFailure', 'Never']));
  }
  return causes;
}

/** Finds changes of metadata that no write may change, whether of the pod or of its status. */
function validateMetadataUpdate(metadata: JsonObject, old: JsonObject): StatusCause[] {
  const causes = metadataUpdateCauses(metadata, old);
  const mirror = objectAt(metadata, 'annotations')[mirrorAnnotation];
  const oldMirror = objectAt(old, 'annotations')[mirrorAnnotation];
  if (mirror !== oldMirror) {
    const why = oldMirror === undefined ? 'may not add mirror pod annotation' : 'may not remove or update mirror pod annotation';
    causes.push(forbiddenChange(`metadata.annotations[${mirrorAnnotation}]`, why));
  }
  return causes;
}

/** The spec without the members that an update may change. */
function fixedPart(spec: JsonObject): JsonObject {
  const withoutImages = (key: string) => objectsAt(spec, key).map((container) => without(container, 'image'));
  const rest = without(spec, 'activeDeadlineSeconds', 'tolerations', 'schedulingGates');
  return { ...rest, containers: withoutImages('containers'), initContainers: withoutImages('initContainers') };
}

/** The rules that a change of the spec breaks; empty when it breaks none. */
function validateSpecUpdate(spec: JsonObject, old: JsonObject): StatusCause[] {
  const [count, oldCount] = [objectsAt(spec, 'containers').length, objectsAt(old, 'containers').length];
  if (count !== oldCount) {
    const change = forbiddenChange('spec.containers', 'pod updates may not add or remove containers');
    return count === 0 ? [requiredValue('spec.containers'), change] : [change];
  }
  const oldGrace = numberAt(old, 'terminationGracePeriodSeconds') ?? 0;
  const isGraceRepair = oldGrace < 0 && spec.terminationGracePeriodSeconds === 1;
  const before = isGraceRepair ? { ...old, terminationGracePeriodSeconds: 1 } : old;
  const causes: StatusCause[] = [];
  const kept = objectsAt(old, 'tolerations').every((toleration) =>
    objectsAt(spec, 'tolerations').some((other) => isEqualJson(toleration, other)),
  );
  if (!kept || !isEqualJson(fixedPart(spec), fixedPart(before))) causes.push(forbiddenChange('spec', updatableFields));
  return causes;
}

// The values that the apiserver fills in where a client gave none.

function withDefaults(object: JsonObject, defaults: JsonObject): JsonObject {
  const result = { ...object };
  for (const [key, value] of Object.entries(defaults)) {
    if (result[key] === undefined || result[key] === null || result[key] === '') result[key] = value;
  }
  return result;
}

function withContainerDefaults(container: JsonObject): JsonObject {
  const image = textAt(container, 'image');
  const tag = /:([^:/@]+)$/.exec(image)?.[1] ?? (image.includes('@') ? '' : 'latest');
  const filled = withDefaults(container, {
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: tag === 'latest' ? 'Always' : 'IfNotPresent',
  });
  const resources = objectAt(filled, 'resources');
  const limits = objectAt(resources, 'limits');
  if (Object.keys(limits).length === 0) return filled;
  return { ...filled, resources: { ...resources, requests: { ...limits, ...objectAt(resources, 'requests') } } };
}

/** The spec with the API's defaults in it. */
function withSpecDefaults(spec: JsonObject): JsonObject {
  const result = withDefaults(spec, {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
    enableServiceLinks: true,
  });
  for (const key of ['containers', 'initContainers']) {
    if (Array.isArray(result[key])) result[key] = objectsAt(result, key).map(withContainerDefaults);
  }
  return result;
}

/** The status of a new pod; the server ignores the status that the client sent. */
function initialStatus(spec: JsonObject): JsonObject {
  return { phase: 'Pending', qosClass: computePodQOSClass(spec) };
}

/** Makes `podIP` and `podIPs` agree. Where they differ, `podIP` decides. */
function withAddressesInStep(status: JsonObject): JsonObject {
  const first = objectsAt(status, 'podIPs')[0];
  const podIP = textAt(status, 'podIP');
  if (podIP !== '' && podIP !== (first === undefined ? '' : textAt(first, 'ip'))) return { ...status, podIPs: [{ ip: podIP }] };
  return podIP === '' && first !== undefined ? { ...status, podIP: textAt(first, 'ip') } : status;
}

function keepGeneration(target: JsonObject, old: JsonObject | undefined): JsonObject {
  const before = old === undefined ? 0 : (numberAt(old, 'observedGeneration') ?? 0);
  return (numberAt(target, 'observedGeneration') ?? 0) === 0 && before !== 0 ? { ...target, observedGeneration: before } : target;
}

/** Conditions may repeat a type: the n-th of a type takes the generation of the n-th of that type in `old`. */
function keepConditionGenerations(conditions: readonly JsonObject[], old: readonly JsonObject[]): Json[] {
  const left = [...old];
  return conditions.map((condition) => {
    const index = left.findIndex(({ type }) => type === condition.type);
    return index === -1 ? condition : keepGeneration(condition, left.splice(index, 1)[0]);
  });
}

/** A status as the server stores it after a write of the status subresource. */
function withStatusFillIns(status: JsonObject, old: JsonObject): JsonObject {
  let result = withAddressesInStep(shapePodStatus(status));
  if (textAt(result, 'qosClass') === '' && textAt(old, 'qosClass') !== '') {
    result = { ...result, qosClass: textAt(old, 'qosClass') };
  }
  result = keepGeneration(result, old);
  if (!Array.isArray(result.conditions)) return result;
  return { ...result, conditions: keepConditionGenerations(objectsAt(result, 'conditions'), objectsAt(old, 'conditions')) };
}

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
function decidePodDeletion(pod: JsonObject, request: DeleteRequest, nowMs: number): DeletionOutcome {
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
