import type { ServerResponse } from 'node:http';
import type { Json, JsonObject } from '../../api/wire.ts';
import { type ApiStatus, apiStatus, statusJson } from '../api-status.ts';
import { objectAt } from '../json-fields.ts';

/** A finished answer. */
export interface Answer {
  readonly code: number;
  /** Undefined: an answer without a body. */
  readonly body: Json | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Failures that belong to HTTP and not to the pods. */
export const failures = {
  unknownPath: apiStatus(404, 'NotFound', 'the server could not find the requested resource', {}),
  methodNotAllowed: apiStatus(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {}),
  unauthorized: apiStatus(401, 'Unauthorized', 'Unauthorized'),
  notAcceptable: apiStatus(
    406,
    'NotAcceptable',
    'only the following media types are accepted: application/json, application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  ),
} as const;

export function statusAnswer(status: ApiStatus): Answer {
  const seconds = status.details?.retryAfterSeconds;
  const answer = { code: status.code, body: statusJson(status) };
  return seconds === undefined ? answer : { ...answer, headers: { 'retry-after': String(seconds) } };
}

/** How the client wants objects: whole, or their metadata alone. */
export type Rendering = 'whole' | 'metadata';

/** The first form of the Accept header that the server has; undefined when it has none. */
export function renderingOf(accept: string | undefined): Rendering | undefined {
  if (accept === undefined || accept.trim() === '') return 'whole';
  for (const choice of accept.split(',')) {
    const [type, ...parameters] = choice.split(';').map((part) => part.trim());
    if (type !== 'application/json' && type !== 'application/*' && type !== '*/*') continue;
    const wanted = Object.fromEntries(parameters.map((parameter) => parameter.split('=')));
    if (wanted.as === undefined) return 'whole';
    if (
      ['PartialObjectMetadata', 'PartialObjectMetadataList'].includes(wanted.as) &&
      wanted.g === 'meta.k8s.io' &&
      wanted.v === 'v1'
    ) {
      return 'metadata';
    }
  }
  return undefined;
}

const metadataKind = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' } as const;

/** One pod as it goes out. */
export function renderPod(pod: object, rendering: Rendering): JsonObject {
  const json = pod as JsonObject;
  if (rendering === 'metadata') return { ...metadataKind, metadata: objectAt(json, 'metadata') };
  return { ...json, kind: 'Pod', apiVersion: 'v1' };
}

/** A list as it goes out: its items do not repeat kind and apiVersion, except as bare metadata. */
export function renderPodList(pods: readonly object[], resourceVersion: string, rendering: Rendering): JsonObject {
  const metadata = { resourceVersion };
  if (rendering === 'metadata') {
    const items = pods.map((pod) => renderPod(pod, rendering));
    return { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata, items };
  }
  const items = pods.map((pod) => {
    const { kind: _kind, apiVersion: _version, ...rest } = pod as JsonObject;
    return rest;
  });
  return { kind: 'PodList', apiVersion: 'v1', metadata, items };
}

export function encodeAnswer({ body }: Answer): Buffer {
  if (body === undefined) return Buffer.alloc(0);
  return Buffer.from(typeof body === 'string' ? body : `${JSON.stringify(body)}\n`);
}

/** Writes the head; `length` is what it promises of the body. */
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
