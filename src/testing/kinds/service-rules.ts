import type { Json, JsonObject } from '../../api/json/types.ts';
import { labelNameProblem } from '../objects/api-names.ts';
import { invalidValue, requiredValue, type StatusCause } from '../objects/api-status.ts';
import { fieldsBeside, objectAt, objectsAt, textAt, textsAt, without } from '../objects/selectors.ts';
import type { ObjectRules } from '../objects/store-types.ts';
import { serviceSchema } from './kind-patch-schemas.ts';
import { plainRules } from './plain-rules.ts';

const isExternal = (spec: JsonObject): boolean => spec.type === 'ExternalName';

function shapePort(port: JsonObject): JsonObject {
  return { ...port, protocol: textAt(port, 'protocol') || 'TCP', targetPort: port.targetPort ?? port.port ?? null };
}

/** The members about addresses, which an external service does not have. */
function addressesOf(spec: JsonObject): JsonObject {
  const first = textAt(spec, 'clusterIP') || (textsAt(spec, 'clusterIPs')[0] ?? '');
  const given = first === '' ? {} : { clusterIP: first, clusterIPs: [first] };
  return { internalTrafficPolicy: 'Cluster', ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack', ...given };
}

function shapeService(service: JsonObject): JsonObject {
  const spec = objectAt(service, 'spec');
  const ports: Json[] = objectsAt(spec, 'ports').map(shapePort);
  const common = {
    ...without(spec, 'ports', 'clusterIP', 'clusterIPs'),
    ...(ports.length === 0 ? {} : { ports }),
    sessionAffinity: textAt(spec, 'sessionAffinity') || 'None',
    type: textAt(spec, 'type') || 'ClusterIP',
  };
  const external = without(common, 'internalTrafficPolicy', 'ipFamilies', 'ipFamilyPolicy');
  return { spec: isExternal(common) ? external : { ...addressesOf(spec), ...common }, status: { loadBalancer: {} } };
}

/** An address made from the uid of a service. Nothing keeps two services from the same one. */
function addressFor(uid: string): string {
  const bytes = Buffer.from(uid.slice(0, 6), 'hex');
  return `10.${bytes.join('.')}`;
}

function withClusterIP(service: JsonObject): JsonObject {
  const spec = objectAt(service, 'spec');
  if (isExternal(spec) || textAt(spec, 'clusterIP') !== '') return service;
  const clusterIP = addressFor(textAt(objectAt(service, 'metadata'), 'uid'));
  return { ...service, spec: { ...spec, clusterIP, clusterIPs: [clusterIP] } };
}

/** An update need not repeat the address. */
function carryOver(service: JsonObject, old: JsonObject): JsonObject {
  const [spec, before] = [objectAt(service, 'spec'), objectAt(old, 'spec')];
  const isGiven = textAt(spec, 'clusterIP') !== '' || textsAt(spec, 'clusterIPs').length > 0;
  if (isGiven || isExternal(spec) || isExternal(before)) return service;
  return { ...service, spec: { ...spec, clusterIP: before.clusterIP ?? null } };
}

function validateService(service: JsonObject): StatusCause[] {
  const spec = objectAt(service, 'spec');
  const ports = objectsAt(spec, 'ports');
  if (ports.length === 0 && !isExternal(spec) && spec.clusterIP !== 'None') return [requiredValue('spec.ports')];
  if (ports.length < 2) return [];
  return ports.flatMap((port, index) => (textAt(port, 'name') === '' ? [requiredValue(`spec.ports[${index}].name`)] : []));
}

function validateUpdate(service: JsonObject, old: JsonObject): StatusCause[] {
  const [spec, before] = [objectAt(service, 'spec'), objectAt(old, 'spec')];
  if (isExternal(spec) || isExternal(before) || spec.clusterIP === before.clusterIP) return [];
  return [invalidValue('spec.clusterIPs[0]', spec.clusterIPs, 'may not change once set')];
}

/** Services get an address of 10.0.0.0/8. Nothing allocates node ports, and all addresses are IPv4. */
export const serviceRules: ObjectRules = plainRules({
  kind: 'Service',
  apiVersion: 'v1',
  nameProblem: labelNameProblem,
  fields: fieldsBeside({
    'spec.clusterIP': (service) => textAt(objectAt(service, 'spec'), 'clusterIP'),
    'spec.type': (service) => textAt(objectAt(service, 'spec'), 'type'),
  }),
  patchSchema: serviceSchema,
  blank: { spec: {}, status: { loadBalancer: {} } },
  hasStatus: true,
  createsOnUpdate: true,
  returnsDeleted: true,
  shape: shapeService,
  shapeNew: withClusterIP,
  carryOver,
  validate: validateService,
  validateUpdate,
});
