import { isJsonObject } from '../../api/json/json.ts';
import { errorFromStatus, type JsonMembers } from '../transport/api-answer.ts';
import { ApiError } from '../transport/api-error.ts';
import type { ApiObject } from './api-resource.ts';

/** One event of a watch. A bookmark's object has a resourceVersion, and hardly more. */
export interface WatchEvent<T extends ApiObject = ApiObject> {
  /** What has happened. A bookmark only says that the watch has come to a version. */
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  /** The object as it is now; a deleted one as it was last. */
  readonly object: T & VersionedObject;
}

/** An object that a server sent. */
export interface VersionedObject {
  /** Carries the version. */
  metadata: {
    /** The version of the object. */
    resourceVersion: string;
  };
}

/** Makes a value of one line of a watch, as JSON.parse does. It may leave out parts of the object that nobody will read. */
export type ReadEvent = (line: Buffer) => unknown;

/** True for an object with a resourceVersion. */
export function isVersionedObject(value: unknown): value is JsonMembers & VersionedObject {
  if (!isJsonObject(value) || !isJsonObject(value.metadata)) return false;
  const { resourceVersion } = value.metadata;
  return typeof resourceVersion === 'string' && resourceVersion !== '';
}

/**
 * Reads one line of a watch. Throws the `ApiError` that an ERROR event tells of, and a `BrokenAnswer` for anything that is
 * no event. No error quotes the line, which may hold a secret.
 */
export function readWatchLine<T extends ApiObject>(line: Buffer, label: string, readEvent: ReadEvent = parsed): WatchEvent<T> {
  const { type, object } = eventMembers(line, readEvent) ?? {};
  if (type === 'ERROR') throw errorOfEvent(object, label);
  if ((type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED' || type === 'BOOKMARK') && isVersionedObject(object)) {
    return { type, object: object as VersionedObject as T & VersionedObject };
  }
  throw new ApiError({ reason: 'BrokenAnswer', message: `${label}: a line of the watch is no event` });
}

function parsed(line: Buffer): unknown {
  return JSON.parse(line.toString('utf8'));
}

function eventMembers(line: Buffer, readEvent: ReadEvent): JsonMembers | undefined {
  try {
    const value = readEvent(line);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function errorOfEvent(object: unknown, label: string): ApiError {
  const code = isJsonObject(object) ? object.code : undefined;
  // an ERROR event refuses the watch, whatever code it carries
  return errorFromStatus(object, { status: typeof code === 'number' && code >= 400 ? code : 500, label });
}
