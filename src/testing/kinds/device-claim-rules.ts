import type { Json, JsonObject } from '../../api/json/types.ts';
import type { KindTraits } from './plain-rules.ts';

// Claims of devices and their templates: a server says in them how many devices each request is for.

/** The rest is taken as it is. */
export const deviceClaimTraits: Pick<KindTraits, 'shape'> = {
  shape: (claim) => withMember(claim, 'spec', shapedSpec),
};

export const deviceClaimTemplateTraits: Pick<KindTraits, 'shape'> = {
  shape: (template) => withMember(template, 'spec', (spec) => withMember(spec, 'spec', shapedSpec)),
};

function shapedSpec(spec: JsonObject): JsonObject {
  return withMember(spec, 'devices', (devices) =>
    withMembers(devices, 'requests', (request) =>
      withMembers(withMember(request, 'exactly', counted), 'firstAvailable', counted),
    ),
  );
}

function counted(request: JsonObject): JsonObject {
  const allocationMode = request.allocationMode || 'ExactCount';
  return allocationMode === 'ExactCount'
    ? { ...request, allocationMode, count: request.count || 1 }
    : { ...request, allocationMode };
}

function withMember(object: JsonObject, name: string, shape: (member: JsonObject) => JsonObject): JsonObject {
  const member = object[name];
  return isObject(member) ? { ...object, [name]: shape(member) } : object;
}

function withMembers(object: JsonObject, name: string, shape: (member: JsonObject) => JsonObject): JsonObject {
  const members = object[name];
  return Array.isArray(members) ? { ...object, [name]: members.map((one) => (isObject(one) ? shape(one) : one)) } : object;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
