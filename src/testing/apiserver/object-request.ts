import { isJsonObject } from '../../api/json/json.ts';
import type { JsonObject } from '../../api/json/types.ts';
import { badRequest, noName, otherName, otherNamespace } from '../objects/api-status.ts';
import { textAt } from '../objects/json-fields.ts';
import { apiVersionOf, type Rendering } from './answer.ts';
import { expectJson, parseBody } from './request-body.ts';
import type { Route } from './route.ts';

/** A request on a resource with its body read. */
export interface ObjectRequest {
  readonly route: Route;
  readonly body: Buffer;
  readonly contentType: string | undefined;
  readonly rendering: Rendering;
}

/** The object in the body of a POST or PUT; throws 400 for any other body. */
export function objectBody({ body, contentType, route }: ObjectRequest): JsonObject {
  expectJson(contentType);
  const value = parseBody(body);
  const { kind, version } = route.store.resource;
  if (!isJsonObject(value)) throw badRequest(`json: cannot unmarshal into Go value of type ${version}.${kind}`);
  return value;
}

/** Throws 400 for an object of another kind. Only a custom object must name its kind. */
function checkKind(object: JsonObject, { store: { resource, rules } }: Route): void {
  const [kind, apiVersion] = [textAt(object, 'kind'), textAt(object, 'apiVersion')];
  const what = `the object provided is unrecognized (must be of type ${resource.kind})`;
  if (rules.isCustom === true && kind === '') throw badRequest(`${what}: Object 'Kind' is missing`);
  const isOther = kind !== '' && kind !== resource.kind;
  if (!isOther && (apiVersion === '' || apiVersion === apiVersionOf(resource))) return;
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1) || resource.version;
  const why = isOther ? 'unknown conversion' : `no kind "${kind}" is registered for version "${apiVersion}"`;
  throw badRequest(`${kind} in version "${version}" cannot be handled as a ${resource.kind}: ${why}`);
}

/** The object of a POST or PUT, in the URL's namespace; throws 400 when it has another namespace or name than the URL. */
export function objectOf(request: ObjectRequest): JsonObject {
  const { namespace = '', name, store } = request.route;
  const object = objectBody(request);
  checkKind(object, request.route);
  const { metadata = {} } = object;
  // Anything but an object is for the store to refuse.
  if (!isJsonObject(metadata)) return object;
  const given = textAt(metadata, 'name');
  if (name !== undefined && given === '') throw noName(name);
  if (name !== undefined && given !== name) throw otherName(given, name);
  if (!store.resource.namespaced) return object;
  if (textAt(metadata, 'namespace') !== '' && textAt(metadata, 'namespace') !== namespace) throw otherNamespace();
  return { ...object, metadata: { ...metadata, namespace } };
}
