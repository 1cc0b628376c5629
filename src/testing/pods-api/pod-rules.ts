import type { JsonObject } from '../../api/json/types.ts';
import { podSchema } from '../../api/patch/patch-schemas.ts';
import { objectAt, textAt } from '../objects/json-fields.ts';
import type { ObjectRules } from '../objects/object-rules.ts';
import { fieldsBeside } from '../objects/selectors.ts';
import { initialStatus, withSpecDefaults } from './pod-defaults.ts';
import { decidePodDeletion } from './pod-deletion.ts';
import { updatedPod, updatedStatus } from './pod-updates.ts';
import { validatePodCreate } from './pod-validation.ts';

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
