import type { JsonObject } from '../../api/json/types.ts';
import type { ApiResource } from '../../client/resources/api-resource.ts';
import { badRequest, invalidObject, type StatusCause } from './api-status.ts';
import { ShapeError } from './json-fields.ts';

/** Runs what brings a client's object into the server's form. Throws 400 for a member of the wrong type. */
export function decoding<R>({ kind, version }: ApiResource, run: () => R): R {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${error.message}`);
  }
}

/** Throws 422 when there are causes. */
export function refuse(name: string, causes: readonly StatusCause[], of: ApiResource): void {
  if (causes.length > 0) throw invalidObject(name, causes, of);
}

/** Throws a `ShapeError` for an object of another kind. */
export function checkKind({ kind }: JsonObject, of: ApiResource): void {
  if (kind === undefined || kind === of.kind) return;
  throw new ShapeError(`no kind ${JSON.stringify(kind)} is a ${of.kind}`);
}
