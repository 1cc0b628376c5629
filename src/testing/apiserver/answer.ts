import type { ServerResponse } from 'node:http';
import type { Json, JsonObject } from '../../api/json/types.ts';
import type { ApiResource } from '../../client/resources/api-resource.ts';
import { type ApiStatus, apiStatus, StoreError, statusJson } from '../objects/api-status.ts';
import type { ServedStore } from '../objects/resource-store.ts';
import { objectAt } from '../objects/selectors.ts';
import type { ListPage } from './object-lists.ts';

/** A finished answer. */
export interface Answer {
  readonly code: number;
  /** Undefined: an answer without a body. */
  readonly body: Json | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Failures of the HTTP request, not of an object. */
export const failures = {
  unknownPath: apiStatus(404, 'NotFound', 'the server could not find the requested resource', {}),
  methodNotAllowed: apiStatus(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {}),
  unauthorized: apiStatus(401, 'Unauthorized', 'Unauthorized'),
  tooLarge: apiStatus(413, 'RequestEntityTooLarge', 'Request entity too large: limit is 3145728'),
  notAcceptable: apiStatus(
    406,
    'NotAcceptable',
    '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    {},
  ),
} as const;

export function statusAnswer(status: ApiStatus): Answer {
  const seconds = status.details?.retryAfterSeconds;
  const answer = { code: status.code, body: statusJson(status) };
  return seconds === undefined ? answer : { ...answer, headers: { 'retry-after': String(seconds) } };
}

/** The form in which the client wants objects: whole, or the metadata alone of one object or of a list. */
export type Rendering = 'whole' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

/** The first form in the Accept header that the server offers; undefined when it offers none of them. */
export function renderingOf(accept: string | undefined): Rendering | undefined {
  if (accept === undefined || accept.trim() === '') return 'whole';
  for (const choice of accept.split(',')) {
    const [type, ...parameters] = choice.split(';').map((part) => part.trim());
    if (type !== 'application/json' && type !== 'application/*' && type !== '*/*') continue;
    const wanted = Object.fromEntries(parameters.map((parameter) => parameter.split('=')));
    if (wanted.as === undefined) return 'whole';
    const isKnown = wanted.as === 'PartialObjectMetadata' || wanted.as === 'PartialObjectMetadataList';
    if (isKnown && wanted.g === 'meta.k8s.io' && wanted.v === 'v1') return wanted.as;
  }
  return undefined;
}

const metadataKind = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' } as const;

/** The `apiVersion` of a resource's objects. */
export function apiVersionOf({ group, version }: Pick<ApiResource, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

/** One object as the server sends it. */
export function renderObject(object: object, resource: ApiResource, rendering: Rendering): JsonObject {
  const json = object as JsonObject;
  if (rendering !== 'whole') return { ...metadataKind, metadata: objectAt(json, 'metadata') };
  return { ...json, kind: resource.kind, apiVersion: apiVersionOf(resource) };
}

/** One object as the answer to a request for one. Throws 406 when the client wants a list. */
export function renderOne(object: object, resource: ApiResource, rendering: Rendering): JsonObject {
  if (rendering !== 'PartialObjectMetadataList') return renderObject(object, resource, rendering);
  const why = `the requested object is not a list (*core.${resource.kind})`;
  throw notAcceptable(`you requested PartialObjectMetadataList, but ${why}`);
}

function notAcceptable(message: string): StoreError {
  return new StoreError(apiStatus(406, 'NotAcceptable', message));
}

/** A list as the server sends it. Its items have kind and apiVersion only when they are metadata alone, or custom. */
export function renderList({ items, metadata }: ListPage, { resource, rules }: ServedStore, rendering: Rendering): JsonObject {
  const { kind } = resource;
  if (rendering === 'PartialObjectMetadata') {
    throw notAcceptable(`you requested PartialObjectMetadata, but the requested object is a list (*core.${kind}List)`);
  }
  const head = { metadata: { ...metadata } };
  if (rendering === 'PartialObjectMetadataList') {
    const rendered = items.map((object) => renderObject(object, resource, rendering));
    return { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', ...head, items: rendered };
  }
  const rendered = items.map((object) => {
    const { kind: _kind, apiVersion: _version, ...rest } = object as object as JsonObject;
    return rules.isCustom === true ? renderObject(object, resource, rendering) : rest;
  });
  return { kind: `${kind}List`, apiVersion: apiVersionOf(resource), ...head, items: rendered };
}

export function encodeAnswer({ body }: Answer): Buffer {
  if (body === undefined) return Buffer.alloc(0);
  return Buffer.from(typeof body === 'string' ? body : `${JSON.stringify(body)}\n`);
}

/** Writes the head; `length` is its content-length. */
export function writeHead(response: ServerResponse, { code, body, headers = {} }: Answer, length: number): void {
  const type =
    body === undefined ? {} : { 'content-type': typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json' };
  response.writeHead(code, { ...type, 'content-length': length, 'cache-control': 'no-cache, private', ...headers });
}

export function sendAnswer(response: ServerResponse, answer: Answer): void {
  const body = encodeAnswer(answer);
  writeHead(response, answer, body.length);
  response.end(body);
}
