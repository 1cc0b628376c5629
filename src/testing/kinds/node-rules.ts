import type { JsonObject } from '../../api/json/types.ts';
import { nodeSchema } from '../../api/patch/patch-schemas.ts';
import { canonicalQuantity } from '../../api/quantity/quantity.ts';
import { isCountedResource, isLabelValue, labelValueRule } from '../../base/names.ts';
import { qualifiedNameProblems } from '../objects/api-names.ts';
import { duplicateValue, invalidValue, requiredValue, type StatusCause, unsupportedValue } from '../objects/api-status.ts';
import { isEmptyValue } from '../objects/metadata.ts';
import { clusterFieldsBeside, objectAt, objectsAt, ShapeError, textAt, textsAt, without } from '../objects/selectors.ts';
import type { ObjectRules } from '../objects/store-types.ts';
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

// Behaviour of pkg/apis/core/validation ValidateNode and ValidateNodeUpdate, v1.36.3: taints, resources and addresses.

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function nodeCauses(node: JsonObject): StatusCause[] {
  return [...taintCauses(objectsAt(objectAt(node, 'spec'), 'taints')), ...resourceCauses(objectAt(node, 'status'))];
}

/** The rules that a status breaks which is written by itself. */
function nodeStatusCauses(node: JsonObject): StatusCause[] {
  const status = objectAt(node, 'status');
  return [...resourceCauses(status), ...addressCauses(objectsAt(status, 'addresses'))];
}

function taintCauses(taints: readonly JsonObject[]): StatusCause[] {
  const seen = new Set<string>();
  return taints.flatMap((taint, index) => {
    const field = `metadata.taints[${index}]`;
    const [key, value, effect] = [textAt(taint, 'key'), textAt(taint, 'value'), textAt(taint, 'effect')];
    const causes = qualifiedNameProblems(key).map((problem) => invalidValue(`${field}.key`, key, problem));
    if (!isLabelValue(value)) causes.push(invalidValue(`${field}.value`, value, labelValueRule));
    if (effect === '') causes.push(requiredValue(`${field}.effect`));
    else if (!effects.includes(effect)) causes.push(unsupportedValue(`${field}.effect`, effect, effects));
    const pair = `${key}:${effect}`;
    if (seen.has(pair)) causes.push(duplicateValue(field, taint, 'taints must be unique by key and effect pair'));
    seen.add(pair);
    return causes;
  });
}

function resourceCauses(status: JsonObject): StatusCause[] {
  return ['capacity', 'allocatable'].flatMap((list) =>
    Object.entries(objectAt(status, list)).flatMap(([name, value]) => {
      const field = `status.${list}.${name}`;
      const quantity = quantityOf(value);
      const causes: StatusCause[] = [];
      if (quantity.startsWith('-')) causes.push(invalidValue(field, quantity, 'must be greater than or equal to 0'));
      if (isCountedResource(name) && /[mun]$/.test(quantity)) causes.push(invalidValue(field, quantity, 'must be an integer'));
      return causes;
    }),
  );
}

/** A server cannot even read a quantity that is none. */
function quantityOf(value: unknown): string {
  try {
    return canonicalQuantity(String(value));
  } catch {
    throw new ShapeError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  }
}

function addressCauses(addresses: readonly JsonObject[]): StatusCause[] {
  const seen = new Set<string>();
  return addresses.flatMap((address, index) => {
    const key = `${textAt(address, 'type')} ${textAt(address, 'address')}`;
    const causes = seen.has(key) ? [duplicateValue(`status.addresses[${index}]`, address)] : [];
    seen.add(key);
    return causes;
  });
}
