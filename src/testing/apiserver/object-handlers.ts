import type { ApiObject } from '../../client/resources/api-resource.ts';
import { badRequest } from '../objects/api-status.ts';
import { objectAt, textAt, without } from '../objects/json-fields.ts';
import { checkUID } from '../objects/preconditions.ts';
import type { ServedStore } from '../objects/resource-store.ts';
import type { ObjectKey } from '../objects/store-types.ts';
import type { PodStore } from '../pods-api/pod-store.ts';
import { type Answer, renderList, renderOne } from './answer.ts';
import { deleteOptions, isDryRun } from './delete-options.ts';
import { listObjects, notFuture } from './object-lists.ts';
import { type ObjectRequest, objectBody, objectOf } from './object-request.ts';
import { requestedVersion, selectionOf } from './queries.ts';
import { parseBody, patchTypeOf } from './request-body.ts';

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
