import type { JsonObject } from '../../api/json/types.ts';
import { type ApiObject, type ApiResource, apiResource } from '../../client/resources/api-resource.ts';
import { invalidValue, type StatusCause } from '../objects/api-status.ts';
import { clusterFieldsBeside, fieldsBeside, objectAt, objectsAt, textAt } from '../objects/selectors.ts';
import type { ObjectRules } from '../objects/store-types.ts';
import type { KnownKind } from './known-kinds.ts';
import { plainRules } from './plain-rules.ts';

/** A custom resource that a CustomResourceDefinition brings. */
function storageVersion(definition: JsonObject): JsonObject | undefined {
  return objectsAt(objectAt(definition, 'spec'), 'versions').find(({ storage, served }) => storage === true && served === true);
}

/** The resource that the definition brings, in its storage version; undefined when that is not served. */
export function definedKind(definition: ApiObject): KnownKind | undefined {
  const json = definition as JsonObject;
  const version = storageVersion(json);
  if (version === undefined) return undefined;
  const spec = objectAt(json, 'spec');
  const names = objectAt(spec, 'names');
  const resource = apiResource({
    group: textAt(spec, 'group'),
    version: textAt(version, 'name'),
    resource: textAt(names, 'plural'),
    kind: textAt(names, 'kind'),
    namespaced: spec.scope === 'Namespaced',
  });
  const hasStatus = objectAt(version, 'subresources').status !== undefined;
  return { resource, rules: customRules(resource, { hasStatus }) };
}

function shapeDefinition(definition: JsonObject): JsonObject {
  const spec = objectAt(definition, 'spec');
  const names = objectAt(spec, 'names');
  const kind = textAt(names, 'kind');
  const filled = { singular: kind.toLowerCase(), listKind: `${kind}List`, ...names };
  return { spec: { conversion: { strategy: 'None' }, ...spec, names: filled }, status: objectAt(definition, 'status') };
}

/** A real server accepts the names a moment later. */
function withAcceptedNames(definition: JsonObject): JsonObject {
  const { creationTimestamp = null } = objectAt(definition, 'metadata');
  const { spec } = definition;
  const condition = (type: string, reason: string, message: string): JsonObject => {
    return { type, status: 'True', reason, message, lastTransitionTime: creationTimestamp };
  };
  const status: JsonObject = {
    acceptedNames: objectAt(objectAt({ spec: spec ?? null }, 'spec'), 'names'),
    conditions: [
      condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
      condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
    ],
    storedVersions: [textAt(storageVersion(definition) ?? {}, 'name')],
  };
  return { ...definition, status };
}

function validateDefinition(definition: JsonObject): StatusCause[] {
  const spec = objectAt(definition, 'spec');
  const name = textAt(objectAt(definition, 'metadata'), 'name');
  const wanted = `${textAt(objectAt(spec, 'names'), 'plural')}.${textAt(spec, 'group')}`;
  const causes = name === wanted ? [] : [invalidValue('metadata.name', name, 'must be spec.names.plural+"."+spec.group')];
  const storages = objectsAt(spec, 'versions').filter(({ storage }) => storage === true).length;
  if (storages === 1) return causes;
  return [...causes, invalidValue('spec.versions', spec.versions, 'must have exactly one version marked as storage version')];
}

/** CustomResourceDefinitions. Schemas are stored and not applied, and only the storage version is served. */
export const definitionKind: KnownKind = {
  resource: apiResource({
    group: 'apiextensions.k8s.io',
    version: 'v1',
    resource: 'customresourcedefinitions',
    kind: 'CustomResourceDefinition',
    namespaced: false,
  }),
  rules: plainRules({
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
    fields: clusterFieldsBeside({}),
    blank: { spec: {}, status: {} },
    hasStatus: true,
    countsGeneration: true,
    returnsDeleted: true,
    shape: shapeDefinition,
    shapeNew: withAcceptedNames,
    validate: validateDefinition,
  }),
};

export interface CustomTraits {
  /** Default true. */
  readonly hasStatus?: boolean;
}

/** A custom resource whose schema lets everything through. */
export function customRules({ group, version, kind }: ApiResource, { hasStatus = true }: CustomTraits = {}): ObjectRules {
  return plainRules({
    kind,
    apiVersion: `${group}/${version}`,
    fields: fieldsBeside({}),
    patchSchema: undefined,
    isCustom: true,
    bareFinalizers: true,
    updatesNeedVersion: true,
    countsGeneration: true,
    hasStatus,
    dropsNewStatus: hasStatus,
    statusAlone: true,
  });
}
