import type { JsonObject } from '../../api/json/types.ts';
import { forbiddenChange, invalidValue, requiredValue, type StatusCause, unsupportedValue } from '../objects/api-status.ts';
import { equalJson, numberAt, objectAt, objectsAt, textAt, without } from '../objects/json-fields.ts';
import { metadataUpdateCauses, nameCauses, newMetadataCauses } from '../objects/metadata-validation.ts';

// The rules for a pod's metadata and spec, as far as tests of a node agent need them.

const mirrorAnnotation = 'kubernetes.io/config.mirror';
const updatableFields =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** The rules that a new pod breaks; empty when it breaks none. */
export function validatePodCreate(pod: JsonObject): StatusCause[] {
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
export function validateMetadataUpdate(metadata: JsonObject, old: JsonObject): StatusCause[] {
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
export function validateSpecUpdate(spec: JsonObject, old: JsonObject): StatusCause[] {
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
    objectsAt(spec, 'tolerations').some((other) => equalJson(toleration, other)),
  );
  if (!kept || !equalJson(fixedPart(spec), fixedPart(before))) causes.push(forbiddenChange('spec', updatableFields));
  return causes;
}
