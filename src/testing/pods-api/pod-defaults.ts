import type { Json, JsonObject } from '../../api/json/types.ts';
import { computePodQOSClass } from '../../api/pod/pod-qos-class.ts';
import { numberAt, objectAt, objectsAt, textAt } from '../objects/json-fields.ts';
import { shapePodStatus } from './pod-status-fields.ts';

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
export function withSpecDefaults(spec: JsonObject): JsonObject {
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
export function initialStatus(spec: JsonObject): JsonObject {
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
export function withStatusFillIns(status: JsonObject, old: JsonObject): JsonObject {
  let result = withAddressesInStep(shapePodStatus(status));
  if (textAt(result, 'qosClass') === '' && textAt(old, 'qosClass') !== '') {
    result = { ...result, qosClass: textAt(old, 'qosClass') };
  }
  result = keepGeneration(result, old);
  if (!Array.isArray(result.conditions)) return result;
  return { ...result, conditions: keepConditionGenerations(objectsAt(result, 'conditions'), objectsAt(old, 'conditions')) };
}
