import { isJsonObject } from '../../wire/json.ts';
import type { JsonObject } from '../../wire/types.ts';
import { badRequest, invalidOptions, otherName, otherNamespace, unsupportedValue } from '../pods-api/api-status.ts';
import { numberAt, objectAt, textAt, textsAt } from '../pods-api/json-fields.ts';
import type { DeletePodRequest } from '../pods-api/pod-deletion.ts';
import type { PodStore } from '../pods-api/pod-store.ts';
import { type Answer, type Rendering, renderOne, renderPodList } from './answer.ts';
import { listPods, notFuture } from './pod-lists.ts';
import { integerIn, requestedVersion, selectionOf } from './queries.ts';
import { expectJson, parseBody, patchTypeOf } from './request-body.ts';
import type { ApiVerb, Route } from './route.ts';

/** A request on pods with its body read. */
export interface PodRequest {
  readonly route: Route;
  readonly body: Buffer;
  readonly contentType: string | undefined;
  readonly rendering: Rendering;
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

/** The options in the body of a DELETE; undefined when it has none. Throws 400 for a body that is no DeleteOptions. */
function optionsInBody({ body, contentType }: PodRequest): JsonObject | undefined {
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

/** A DELETE with a body has its options there, and those in the query do not count. */
function deleteOptions(request: PodRequest): DeletePodRequest {
  const options = optionsInBody(request);
  if (options === undefined) return { gracePeriodSeconds: integerIn(request.route.query, 'gracePeriodSeconds') };
  const preconditions = objectAt(options, 'preconditions');
  return {
    gracePeriodSeconds: numberAt(options, 'gracePeriodSeconds'),
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
function isDryRun(request: PodRequest): boolean {
  const { verb, query } = request.route;
  const kind = optionKinds[verb];
  if (kind === undefined) return false;
  const isDelete = verb === 'delete' || verb === 'deletecollection';
  const options = isDelete ? optionsInBody(request) : undefined;
  const stages = options === undefined ? query.getAll('dryRun') : textsAt(options, 'dryRun');
  if (stages.some((stage) => stage !== 'All')) throw invalidOptions(kind, [unsupportedValue('dryRun', stages, ['All'])]);
  return stages.length > 0;
}

function deleteAll(request: PodRequest, store: PodStore): Answer {
  const options = deleteOptions(request);
  const pods = store.list(selectionOf(request.route));
  const deleted = pods.map(({ metadata }) => store.delete(metadata?.namespace ?? '', metadata?.name ?? '', options).pod);
  return {
    code: 200,
    body: renderPodList({ pods: deleted, metadata: { resourceVersion: store.resourceVersion } }, request.rendering),
  };
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
export function handlePods(request: PodRequest, realStore: PodStore): Answer {
  const { route, rendering } = request;
  const store = isDryRun(request) ? realStore.trial() : realStore;
  const { verb, namespace = '', name, subresource, query } = route;
  const one = (pod: object, code = 200): Answer => ({ code, body: renderOne(pod, rendering) });
  switch (verb) {
    case 'get':
      notFuture(requestedVersion(query, badRequest), store);
      return one(store.get(namespace, name ?? ''));
    case 'create':
      if (subresource === 'binding') return bindPod(request, store);
      return one(store.create(podOf(request)), 201);
    case 'update':
      return one(subresource === undefined ? store.update(podOf(request)) : store.updateStatus(podOf(request)));
    case 'patch':
      return one(patchPod(request, store));
    case 'delete':
      return one(store.delete(namespace, name ?? '', deleteOptions(request)).pod);
    case 'deletecollection':
      return deleteAll(request, store);
    default:
      return { code: 200, body: renderPodList(listPods(route, store), rendering) };
  }
}
