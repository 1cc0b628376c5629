import type { IncomingMessage } from 'node:http';
import { isJsonObject } from '../../api/json/json.ts';
import type { Json, JsonObject } from '../../api/json/types.ts';
import type { ApiObject } from '../../client/resources/api-resource.ts';
import {
  apiStatus,
  badRequest,
  invalidOptions,
  noName,
  otherName,
  otherNamespace,
  StoreError,
  unsupportedValue,
} from '../objects/api-status.ts';
import { checkUID, type DeleteRequest, type PropagationPolicy } from '../objects/deletion.ts';
import { type ObjectPatchType, patchTypes } from '../objects/object-patches.ts';
import type { ServedStore } from '../objects/resource-store.ts';
import { numberAt, objectAt, textAt, textsAt, without } from '../objects/selectors.ts';
import type { ObjectKey } from '../objects/store-types.ts';
import type { PodStore } from '../pods-api/pod-store.ts';
import { type Answer, apiVersionOf, type Rendering, renderList, renderOne } from './answer.ts';
import { integerIn, listObjects, notFuture, requestedVersion, selectionOf } from './object-lists.ts';
import type { ApiVerb, ResourceRoute } from './served-resources.ts';

function keyOf({ route: { namespace, name = '' } }: ObjectRequest): ObjectKey {
  return { namespace, name };
}

function deleteAll(request: ObjectRequest, store: ServedStore): Answer {
  const options = deleteOptions(request);
  const found = store.list(selectionOf(request.route));
  const items = found.map(({ metadata = {} }) => {
    return store.delete({ namespace: metadata.namespace, name: metadata.name ?? '' }, options).object;
  });
  const page = { items, metadata: { resourceVersion: store.resourceVersion } };
  return { code: 200, body: renderList(page, store, request.rendering) };
}

function deleteOne(request: ObjectRequest, store: ServedStore): Answer {
  const { object, gone } = store.delete(keyOf(request), deleteOptions(request));
  const { resource, rules } = store;
  if (!gone || rules.returnsDeleted === true) return { code: 200, body: renderOne(object, resource, request.rendering) };
  const { name = '', uid = '' } = object.metadata ?? {};
  const details = { name, ...(resource.group === '' ? {} : { group: resource.group }), kind: resource.resource, uid };
  return { code: 200, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details } };
}

function patchOne(request: ObjectRequest, store: ServedStore): ApiObject {
  const type = patchTypeOf(request.contentType);
  const subresource = request.route.subresource === 'status' ? 'status' : undefined;
  return store.patch(keyOf(request), { type, body: parseBody(request.body), subresource });
}

/** A PUT of an object that is not there creates it where the resource allows that. */
function replace(request: ObjectRequest, store: ServedStore): Answer {
  const object = objectOf(request);
  const { resource, rules } = store;
  if (rules.createsOnUpdate === true && !store.has(keyOf(request))) {
    const metadata = without(objectAt(object, 'metadata'), 'resourceVersion');
    // what names a uid is meant for an object that was there
    checkUID(metadata, { metadata: { ...metadata, uid: '' } }, resource);
    return { code: 201, body: renderOne(store.create({ ...object, metadata }), resource, request.rendering) };
  }
  const written = request.route.subresource === undefined ? store.update(object) : store.updateStatus(object);
  return { code: 200, body: renderOne(written, resource, request.rendering) };
}

/** Answers any request on a resource but a watch. Throws a `StoreError` for a refusal. */
export function handleObjects(request: ObjectRequest): Answer {
  const { route, rendering } = request;
  const store = isDryRun(request) ? route.store.trial() : route.store;
  const one = (object: object, code = 200): Answer => ({ code, body: renderOne(object, store.resource, rendering) });
  switch (route.verb) {
    case 'get':
      notFuture(requestedVersion(route.query, badRequest), store);
      return one(store.get(keyOf(request)));
    case 'create':
      return one(store.create(objectOf(request)), 201);
    case 'update':
      return replace(request, store);
    case 'patch':
      return one(patchOne(request, store));
    case 'delete':
      return deleteOne(request, store);
    case 'deletecollection':
      return deleteAll(request, store);
    default:
      return { code: 200, body: renderList(listObjects(route, store), store, rendering) };
  }
}

/** Answers the POST of a pod's binding. */
export function bindPod(request: ObjectRequest, realStore: PodStore): Answer {
  const store = isDryRun(request) ? realStore.trial() : realStore;
  const { namespace = '', name = '' } = request.route;
  const nodeName = textAt(objectAt(objectBody(request), 'target'), 'name');
  if (nodeName === '') throw badRequest('Binding "" is invalid: target.name: Required value');
  store.bind(namespace, name, nodeName);
  return { code: 201, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } };
}

/** A request on a resource with its body read. */
export interface ObjectRequest {
  readonly route: ResourceRoute;
  readonly body: Buffer;
  readonly contentType: string | undefined;
  readonly rendering: Rendering;
}

/** The object in the body of a POST or PUT; throws 400 for any other body. */
function objectBody({ body, contentType, route }: ObjectRequest): JsonObject {
  expectJson(contentType);
  const value = parseBody(body);
  const { kind, version } = route.store.resource;
  if (!isJsonObject(value)) throw badRequest(`json: cannot unmarshal into Go value of type ${version}.${kind}`);
  return value;
}

/** Throws 400 for an object of another kind. Only a custom object must name its kind. */
function checkKind(object: JsonObject, { store: { resource, rules } }: ResourceRoute): void {
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

/** The longest body that a kube-apiserver accepts. */
const maxBodyBytes = 3 * 1024 * 1024;

/** The whole body, or undefined when it is too long. Rejects when the client goes away. */
export async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    // Reads the rest without keeping it: the answer to a half-read request would be lost in a connection reset.
    if (length <= maxBodyBytes) chunks.push(chunk);
  }
  return length > maxBodyBytes ? undefined : Buffer.concat(chunks);
}

function parseBody(body: Buffer): Json {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw badRequest(`couldn't get version/kind; json parse error: ${error instanceof Error ? error.message : ''}`);
  }
}

const accepted = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';

function mediaType(header: string | undefined): string {
  return (header ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

/** Throws 415 for the body of a POST, PUT or DELETE that is no JSON. */
function expectJson(contentType: string | undefined): void {
  const type = mediaType(contentType);
  if (type !== '' && type !== 'application/json' && type !== '*/*') {
    const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
    throw new StoreError(apiStatus(415, 'UnsupportedMediaType', message));
  }
}

/** The format of a PATCH. Throws 415 for an unknown one. */
export function patchTypeOf(contentType: string | undefined): ObjectPatchType {
  const type = mediaType(contentType);
  const known = patchTypes.find((each) => each === type);
  if (known === undefined) throw new StoreError(apiStatus(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {}));
  return known;
}

/** The options in the body of a DELETE; undefined when it has none. Throws 400 for a body that is no DeleteOptions. */
function optionsInBody({ body, contentType }: ObjectRequest): JsonObject | undefined {
  if (body.length === 0) return undefined;
  expectJson(contentType);
  const options = parseBody(body);
  if (!isJsonObject(options)) throw badRequest('json: cannot unmarshal into Go value of type v1.DeleteOptions');
  const { gracePeriodSeconds: seconds } = options;
  if (seconds !== undefined && seconds !== null && !Number.isSafeInteger(seconds)) {
    const found = typeof seconds === 'number' ? `number ${seconds}` : typeof seconds;
    throw badRequest(`json: cannot unmarshal ${found} into Go struct field DeleteOptions.gracePeriodSeconds of type int64`);
  }
  return options;
}

const policies: readonly PropagationPolicy[] = ['Foreground', 'Background', 'Orphan'];

/** Undefined for none. Throws 422 for one that the server does not know. */
function policyOf(text: string): PropagationPolicy | undefined {
  if (text === '') return undefined;
  const policy = policies.find((each) => each === text);
  if (policy !== undefined) return policy;
  throw invalidOptions('DeleteOptions', [unsupportedValue('propagationPolicy', text, [...policies, 'nil'])]);
}

/** A DELETE with a body has its options there, and those in the query do not count. */
export function deleteOptions(request: ObjectRequest): DeleteRequest {
  const { query } = request.route;
  const options = optionsInBody(request);
  if (options === undefined) {
    const propagationPolicy = policyOf(query.get('propagationPolicy') ?? '');
    return { gracePeriodSeconds: integerIn(query, 'gracePeriodSeconds'), propagationPolicy };
  }
  const preconditions = objectAt(options, 'preconditions');
  return {
    gracePeriodSeconds: numberAt(options, 'gracePeriodSeconds'),
    propagationPolicy: policyOf(textAt(options, 'propagationPolicy')),
    preconditions: {
      uid: givenText(preconditions, 'uid'),
      resourceVersion: givenText(preconditions, 'resourceVersion'),
    },
  };
}

/** An empty precondition is one that no object meets. */
function givenText(object: JsonObject, key: string): string | undefined {
  const value = object[key];
  return typeof value === 'string' ? value : undefined;
}

const optionKinds: Readonly<Partial<Record<ApiVerb, string>>> = {
  create: 'CreateOptions',
  update: 'UpdateOptions',
  patch: 'PatchOptions',
  delete: 'DeleteOptions',
  deletecollection: 'DeleteOptions',
};

/** True for a write with `dryRun=All`, which must change nothing. Throws 422 for another value. */
export function isDryRun(request: ObjectRequest): boolean {
  const { verb, query } = request.route;
  const kind = optionKinds[verb];
  if (kind === undefined) return false;
  const isDelete = verb === 'delete' || verb === 'deletecollection';
  const options = isDelete ? optionsInBody(request) : undefined;
  const stages = options === undefined ? query.getAll('dryRun') : textsAt(options, 'dryRun');
  if (stages.some((stage) => stage !== 'All')) throw invalidOptions(kind, [unsupportedValue('dryRun', stages, ['All'])]);
  return stages.length > 0;
}
