import { isJsonObject } from '../../wire/json.ts';
import type { Json, JsonObject } from '../../wire/types.ts';
import { apiStatus, badRequest, otherName, otherNamespace, StoreError } from '../pods-api/api-status.ts';
import { numberAt, objectAt, textAt } from '../pods-api/json-fields.ts';
import type { DeletePodRequest } from '../pods-api/pod-deletion.ts';
import type { PodSelection } from '../pods-api/pod-selectors.ts';
import type { PodStore } from '../pods-api/pod-store.ts';
import { type Answer, type Rendering, renderOne, renderPodList } from './answer.ts';
import { expectJson, parseBody, patchTypeOf } from './request-body.ts';
import type { Route } from './route.ts';

/** A request on pods with its body read. */
export interface PodRequest {
  readonly route: Route;
  readonly body: Buffer;
  readonly contentType: string | undefined;
  readonly rendering: Rendering;
}

export function selectionOf({ namespace, query }: Route): PodSelection {
  return {
    namespace,
    fieldSelector: query.get('fieldSelector') ?? undefined,
    labelSelector: query.get('labelSelector') ?? undefined,
  };
}

/** The resourceVersion of a query as a number; 0 for none. Throws the error of `refusal` when it is no number. */
export function requestedVersion(query: URLSearchParams, refusal: (message: string) => StoreError): number {
  const text = query.get('resourceVersion') ?? '';
  if (/^\d*$/.test(text)) return Number(text);
  const shown = JSON.stringify(text);
  throw refusal(`resourceVersion: Invalid value: ${shown}: strconv.ParseUint: parsing ${shown}: invalid syntax`);
}

/** Throws 504 for a future resourceVersion, and 410 for an exact one in the past: the store keeps only the newest state. */
function checkVersion(query: URLSearchParams, store: PodStore): void {
  const wanted = requestedVersion(query, (message) => badRequest(`invalid resource version: ${message}`));
  const current = Number(store.resourceVersion);
  if (wanted > current) {
    const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] as const;
    const message = `Timeout: Too large resource version: ${wanted}, current: ${current}`;
    throw new StoreError(apiStatus(504, 'Timeout', message, { causes, retryAfterSeconds: 1 }));
  }
  if (query.get('resourceVersionMatch') === 'Exact' && wanted < current) {
    throw new StoreError(apiStatus(410, 'Expired', `The provided resourceVersion ${wanted} is too old`));
  }
}

function objectBody({ body, contentType }: PodRequest): JsonObject {
  expectJson(contentType);
  const value = parseBody(body);
  if (!isJsonObject(value)) throw badRequest('json: cannot unmarshal into Go value of type v1.Pod');
  return value;
}

/** The pod of a POST or PUT, in the URL's namespace; throws 400 when it has another namespace or name than the URL. */
function podOf(request: PodRequest): JsonObject {
  const { namespace = '', name } = request.route;
  const pod = objectBody(request);
  const metadata = objectAt(pod, 'metadata');
  if (name !== undefined && textAt(metadata, 'name') !== name) throw otherName(textAt(metadata, 'name'), name);
  if (textAt(metadata, 'namespace') !== '' && textAt(metadata, 'namespace') !== namespace) throw otherNamespace();
  return { ...pod, metadata: { ...metadata, namespace } };
}

function deleteOptions({ route: { query }, body, contentType }: PodRequest): DeletePodRequest {
  if (body.length > 0) expectJson(contentType);
  const options: Json = body.length === 0 ? {} : parseBody(body);
  if (!isJsonObject(options)) throw badRequest('json: cannot unmarshal into Go value of type v1.DeleteOptions');
  const inQuery = query.get('gracePeriodSeconds');
  const preconditions = objectAt(options, 'preconditions');
  return {
    gracePeriodSeconds: numberAt(options, 'gracePeriodSeconds') ?? (inQuery === null ? undefined : Number(inQuery)),
    preconditions: {
      uid: textAt(preconditions, 'uid') || undefined,
      resourceVersion: textAt(preconditions, 'resourceVersion') || undefined,
    },
  };
}

function deleteAll(request: PodRequest, store: PodStore): Answer {
  const options = deleteOptions(request);
  const pods = store.list(selectionOf(request.route));
  const deleted = pods.map(({ metadata }) => store.delete(metadata?.namespace ?? '', metadata?.name ?? '', options).pod);
  return { code: 200, body: renderPodList(deleted, store.resourceVersion, request.rendering) };
}

function patchPod(request: PodRequest, store: PodStore): object {
  const { namespace = '', name = '', subresource } = request.route;
  const type = patchTypeOf(request.contentType);
  return store.patch(namespace, name, {
    type,
    body: parseBody(request.body),
    subresource: subresource === 'status' ? subresource : undefined,
  });
}

function bindPod(request: PodRequest, store: PodStore): Answer {
  const { namespace = '', name = '' } = request.route;
  const nodeName = textAt(objectAt(objectBody(request), 'target'), 'name');
  if (nodeName === '') throw badRequest('Binding "" is invalid: target.name: Required value');
  store.bind(namespace, name, nodeName);
  return { code: 201, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } };
}

/** Answers any request on pods but a watch. Throws a `StoreError` for a refusal. */
export function handlePods(request: PodRequest, store: PodStore): Answer {
  const { route, rendering } = request;
  const { verb, namespace = '', name, subresource, query } = route;
  const one = (pod: object, code = 200): Answer => ({ code, body: renderOne(pod, rendering) });
  switch (verb) {
    case 'get':
      checkVersion(query, store);
      return one(store.get(namespace, name ?? ''));
    case 'create':
      if (subresource === 'binding') return bindPod(request, store);
      return one(store.create(podOf(request)), 201);
    case 'update':
      return one(subresource === undefined ? store.update(podOf(request)) : store.updateStatus(podOf(request)));
    case 'patch':
      return one(patchPod(request, store));
    case 'delete':
      return name === undefined ? deleteAll(request, store) : one(store.delete(namespace, name, deleteOptions(request)).pod);
    default:
      checkVersion(query, store);
      return { code: 200, body: renderPodList(store.list(selectionOf(route)), store.resourceVersion, rendering) };
  }
}
