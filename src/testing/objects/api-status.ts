import type { JsonObject } from '../../api/json/types.ts';
import { ApiError } from '../../client/transport/api-error.ts';

/** One broken rule, as a Status object lists it. */
export interface StatusCause {
  /** Which kind of rule is broken. */
  readonly reason:
    | 'FieldValueInvalid'
    | 'FieldValueDuplicate'
    | 'FieldValueForbidden'
    | 'FieldValueRequired'
    | 'FieldValueNotSupported'
    | 'FieldValueTooLong'
    | 'ResourceVersionTooLarge';
  /** What is wrong, in words. */
  readonly message: string;
  /** The path of the field: `spec.containers[0].image`. */
  readonly field?: string;
}

/** What a Status object says beside its message. */
export interface StatusDetails {
  /** The name of the object. */
  readonly name?: string;
  /** The API group of the resource; left out for the core group. */
  readonly group?: string;
  /** The resource or the kind of the object, as the server names it. */
  readonly kind?: string;
  /** The uid of the object. */
  readonly uid?: string;
  /** The broken rules. */
  readonly causes?: readonly StatusCause[];
  /** After how many seconds the client may try again. */
  readonly retryAfterSeconds?: number;
}

/** The `Status` object in an apiserver's answer to a failed request. */
export interface ApiStatus {
  /** Always `Status`. */
  readonly kind: 'Status';
  /** Always `v1`. */
  readonly apiVersion: 'v1';
  /** Always empty. */
  readonly metadata: Record<string, never>;
  /** Always `Failure`. */
  readonly status: 'Failure';
  /** What went wrong, in words. */
  readonly message: string;
  /** What went wrong, in one word: `NotFound`, `Conflict`. */
  readonly reason?: string;
  /** More about it, where the server has more to say. */
  readonly details?: StatusDetails;
  /** The HTTP status of the answer. */
  readonly code: number;
}

/**
 * The error of a store of objects: an `ApiError` with the whole Status object in `body`.
 *
 * @example
 * ```ts
 * import { PodStore, StoreError } from 'pod-status-manager/testing';
 *
 * try {
 *   new PodStore().get('default', 'web');
 * } catch (error) {
 *   if (error instanceof StoreError) console.log(error.body.code, error.body.reason); // 404 NotFound
 * }
 * ```
 */
export class StoreError extends ApiError {
  /** The answer that a kube-apiserver gives. */
  readonly body: ApiStatus;

  constructor(body: ApiStatus) {
    const retryAfter = body.details?.retryAfterSeconds;
    super({
      status: body.code,
      reason: body.reason ?? 'Unknown',
      message: body.message,
      retryAfterMs: retryAfter === undefined ? undefined : retryAfter * 1000,
    });
    this.name = 'StoreError';
    this.body = body;
  }
}

export function apiStatus(code: number, reason: string | undefined, message: string, details?: StatusDetails): ApiStatus {
  const named = reason === undefined ? {} : { reason };
  const head = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, ...named } as const;
  return details === undefined ? { ...head, code } : { ...head, details, code };
}

/** The names of a resource in the server's answers. */
export interface ResourceNames {
  /** Empty for the core group. */
  readonly group: string;
  /** The plural name. */
  readonly resource: string;
  readonly kind: string;
}

/** `leases.coordination.k8s.io`, and `pods` alone for a resource of the core group. */
export function qualifiedName({ group, resource }: Pick<ResourceNames, 'group' | 'resource'>): string {
  return withGroup(resource, group);
}

function withGroup(name: string, group: string): string {
  return group === '' ? name : `${name}.${group}`;
}

function detailsOf(name: string, kind: string, group: string): StatusDetails {
  return { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), ...(kind === '' ? {} : { kind }) };
}

export function notFound(name: string, of: ResourceNames): StoreError {
  const message = `${qualifiedName(of)} "${name}" not found`;
  return new StoreError(apiStatus(404, 'NotFound', message, detailsOf(name, of.resource, of.group)));
}

export function alreadyExists(name: string, of: ResourceNames): StoreError {
  const message = `${qualifiedName(of)} "${name}" already exists`;
  return new StoreError(apiStatus(409, 'AlreadyExists', message, detailsOf(name, of.resource, of.group)));
}

/** A 409. The server speaks of the resource or, where a deletion has preconditions, of the `kind`. */
export function conflict(name: string, why: string, { group, resource: kind }: Omit<ResourceNames, 'kind'>): StoreError {
  const message = `Operation cannot be fulfilled on ${withGroup(kind, group)} "${name}": ${why}`;
  return new StoreError(apiStatus(409, 'Conflict', message, detailsOf(name, kind, group)));
}

export function staleResourceVersion(name: string, of: ResourceNames): StoreError {
  return conflict(name, 'the object has been modified; please apply your changes to the latest version and try again', of);
}

export function badRequest(message: string): StoreError {
  return new StoreError(apiStatus(400, 'BadRequest', message));
}

/** The answer to a body that names another object than the URL. */
export function otherName(given: string, onURL: string): StoreError {
  return badRequest(`the name of the object (${given}) does not match the name on the URL (${onURL})`);
}

/** The answer to a PUT whose body names no object. */
export function noName(onURL: string): StoreError {
  return badRequest(`the name of the object (${onURL} based on URL) was undeterminable: name must be provided`);
}

/** The answer to a body that names another namespace than the URL. */
export function otherNamespace(): StoreError {
  return badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

/** A client's mistake that a kube-apiserver answers with 500 and without a reason. */
export function unforeseen(message: string): StoreError {
  return new StoreError(apiStatus(500, undefined, message));
}

/** The answer to a patch whose result is no object of the resource. */
export function invalidPatch(body: unknown, why: string): StoreError {
  const cause = invalidValue('patch', JSON.stringify(body), why);
  return new StoreError(apiStatus(422, 'Invalid', ` "" is invalid: patch: ${cause.message}`, { causes: [cause] }));
}

/** The answer to a JSON Patch that cannot be applied. The server names no cause. */
export function unprocessable(): StoreError {
  return new StoreError(apiStatus(422, 'Invalid', 'the server rejected our request due to an error in our request', {}));
}

export function expired(requested: string, oldest: string): StoreError {
  return new StoreError(apiStatus(410, 'Expired', `too old resource version: ${requested} (${oldest})`));
}

export function invalidObject(name: string, causes: readonly StatusCause[], of: Omit<ResourceNames, 'resource'>): StoreError {
  const lines = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))];
  const list = lines.length === 1 ? lines.join('') : `[${lines.join(', ')}]`;
  const message = `${withGroup(of.kind, of.group)} "${name}" is invalid: ${list}`;
  return new StoreError(apiStatus(422, 'Invalid', message, { ...detailsOf(name, of.kind, of.group), causes }));
}

export function invalidValue(field: string, value: unknown, why: string): StatusCause {
  const shown = value === undefined || value === null ? 'null' : JSON.stringify(value);
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${shown}: ${why}`, field };
}

export function forbiddenChange(field: string, why: string): StatusCause {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field };
}

export function requiredValue(field: string, why?: string): StatusCause {
  return { reason: 'FieldValueRequired', message: why === undefined ? 'Required value' : `Required value: ${why}`, field };
}

export function unsupportedValue(field: string, value: unknown, supported: readonly string[]): StatusCause {
  const list = supported.map((each) => JSON.stringify(each)).join(', ');
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${list}`;
  return { reason: 'FieldValueNotSupported', message, field };
}

export function duplicateValue(field: string, value: unknown, why?: string): StatusCause {
  const message = `Duplicate value: ${JSON.stringify(value)}${why === undefined ? '' : `: ${why}`}`;
  return { reason: 'FieldValueDuplicate', message, field };
}

/** The answer to options of a request that break rules; `kind` is the name of the options. */
export function invalidOptions(kind: string, causes: readonly StatusCause[]): StoreError {
  const lines = causes.map(({ field, message }) => `${field}: ${message}`);
  const list = lines.length === 1 ? lines.join('') : `[${lines.join(', ')}]`;
  const message = `${kind}.meta.k8s.io "" is invalid: ${list}`;
  return new StoreError(apiStatus(422, 'Invalid', message, { group: 'meta.k8s.io', kind, causes }));
}

/** A Status object as plain JSON. */
export function statusJson(status: ApiStatus): JsonObject {
  return JSON.parse(JSON.stringify(status));
}

const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  410: 'Expired',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** The `reason` an apiserver gives with this HTTP status. */
export function reasonOfCode(code: number): string {
  return reasons[code] ?? 'Unknown';
}
