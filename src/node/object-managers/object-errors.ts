import { StatusManagerError } from '../../base/errors.ts';
import { requirePathSegment } from '../../base/options.ts';
import { classifyApiError } from '../../client/resources/error-class.ts';

export function notRegistered(object: NamespacedName): StatusManagerError {
  return new StatusManagerError('ERR_NOT_REGISTERED', `object ${quoted(object)} not registered`);
}

export function objectNotFound(kind: string, object: NamespacedName, cause?: unknown): StatusManagerError {
  const options = cause === undefined ? undefined : { cause };
  return new StatusManagerError('ERR_NOT_FOUND', `${kind} ${quoted(object)} not found`, options);
}

/** `cause`: why the last request for it failed, where one has. */
export function notSynced(kind: string, object: NamespacedName, waitedMs: number, cause?: unknown): StatusManagerError {
  const options = cause === undefined ? undefined : { cause };
  const message = `${kind} ${quoted(object)} has not come within ${waitedMs} ms: timed out waiting for its watch to sync`;
  return new StatusManagerError('ERR_SYNC_TIMEOUT', message, options);
}

export function stopped(owner: string): StatusManagerError {
  return new StatusManagerError('ERR_STOPPED', `The ${owner} is stopping or stopped`);
}

/** What a failed request for one object means to who asked: the object is not there, or the server did not say. */
export function readFailure(kind: string, object: NamespacedName, error: unknown): unknown {
  return classifyApiError(error) === 'gone' ? objectNotFound(kind, object, error) : error;
}

function quoted({ namespace, name }: NamespacedName): string {
  return `${JSON.stringify(namespace)}/${JSON.stringify(name)}`;
}

/** Which object: every secret and config map belongs to a namespace. */
export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** What an object is kept under. No namespace holds a "/". */
export function keyOf({ namespace, name }: NamespacedName): string {
  return `${namespace}/${name}`;
}

/** Throws ERR_INVALID_ARGUMENT for a name that fits in no path. */
export function requireObjectName({ namespace, name }: NamespacedName): void {
  requirePathSegment('namespace', namespace);
  requirePathSegment('name', name);
}

/** False for a name that no object can have, though a pod may carry it. */
export function canExist(object: NamespacedName): boolean {
  try {
    requireObjectName(object);
    return true;
  } catch {
    return false;
  }
}
