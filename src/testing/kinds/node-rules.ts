import type { JsonObject } from '../../api/json/types.ts';
import { nodeSchema } from '../../api/patch/patch-schemas.ts';
import { objectAt, objectsAt, textsAt, without } from '../objects/json-fields.ts';
import { isEmptyValue } from '../objects/metadata.ts';
import type { ObjectRules } from '../objects/object-rules.ts';
import { clusterFieldsBeside } from '../objects/selectors.ts';
import { nodeCauses, nodeStatusCauses } from './node-validation.ts';
import { plainRules } from './plain-rules.ts';

const infoMembers = [
  'machineID',
  'systemUUID',
  'bootID',
  'kernelVersion',
  'osImage',
  'containerRuntimeVersion',
  'kubeletVersion',
  'kubeProxyVersion',
  'operatingSystem',
  'architecture',
];
const emptyInfo: JsonObject = Object.fromEntries(infoMembers.map((member) => [member, '']));
const emptyEndpoints: JsonObject = { kubeletEndpoint: { Port: 0 } };
const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

function withoutEmpty(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => !isEmptyValue(value) && value !== false));
}

/** The first CIDR stands in both members. */
function shapeSpec(given: JsonObject): JsonObject {
  const spec = withoutEmpty(given);
  const [podCIDRs, { podCIDR }] = [textsAt(spec, 'podCIDRs'), spec];
  if (typeof podCIDR === 'string' && podCIDRs.length === 0) return { ...spec, podCIDRs: [podCIDR] };
  if (podCIDR === undefined && podCIDRs[0] !== undefined) return { ...spec, podCIDR: podCIDRs[0] };
  return spec;
}

/** What is allocatable is the capacity where nothing else is said. */
function shapeStatus(given: JsonObject): JsonObject {
  const status = withoutEmpty(given);
  const daemonEndpoints = { ...emptyEndpoints, ...objectAt(status, 'daemonEndpoints') };
  const nodeInfo = { ...emptyInfo, ...objectAt(status, 'nodeInfo') };
  const conditions = objectsAt(status, 'conditions').map((condition) => ({
    lastHeartbeatTime: null,
    lastTransitionTime: null,
    ...condition,
  }));
  const allocatable = status.allocatable ?? status.capacity;
  return {
    ...without(status, 'conditions'),
    ...(allocatable === undefined ? {} : { allocatable }),
    ...(conditions.length === 0 ? {} : { conditions }),
    daemonEndpoints,
    nodeInfo,
  };
}

function shapeNode(node: JsonObject): JsonObject {
  return { spec: shapeSpec(objectAt(node, 'spec')), status: shapeStatus(objectAt(node, 'status')) };
}

/** A new node is tainted until a controller finds it ready. */
function withNotReadyTaint(node: JsonObject): JsonObject {
  const spec = objectAt(node, 'spec');
  const taints = objectsAt(spec, 'taints');
  const isTainted = taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect);
  return isTainted ? node : { ...node, spec: { ...spec, taints: [...taints, notReady] } };
}

export const nodeRules: ObjectRules = plainRules({
  kind: 'Node',
  apiVersion: 'v1',
  fields: clusterFieldsBeside({ 'spec.unschedulable': (node) => String(objectAt(node, 'spec').unschedulable === true) }),
  patchSchema: nodeSchema,
  blank: { spec: {}, status: { daemonEndpoints: emptyEndpoints, nodeInfo: emptyInfo } },
  hasStatus: true,
  shape: shapeNode,
  shapeNew: withNotReadyTaint,
  validate: nodeCauses,
  validateStatus: nodeStatusCauses,
});
