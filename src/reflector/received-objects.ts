import type { ApiObject, ApiResource } from '../client/api-resource.ts';
import { ApiError } from '../client/transport/api-error.ts';
import { catchRejection, ignoreFailure } from '../seams/guard.ts';
import type { Logger } from '../seams/logger.ts';
import { isJsonObject } from '../wire/json.ts';
import { nameOf, namespaceOf, versionOf } from './object-identity.ts';

/** Changes an object in place, or returns another one of the same name and version. Undefined leaves the object out. */
export type Transform<T> = (object: T) => T | undefined;

/** An object as it goes on; or why there is none. */
export type Received<T> = { readonly object: T } | 'left out' | 'failed';

export interface ReceivedObjectsOptions<T extends ApiObject> {
  readonly resource: ApiResource<T>;
  readonly path: string;
  readonly transform: Transform<T> | undefined;
  readonly logger: Logger;
}

/** What is done to every object of the server before anything else sees it. */
export class ReceivedObjects<T extends ApiObject> {
  readonly #options: ReceivedObjectsOptions<T>;
  readonly #apiVersion: string;

  constructor(options: ReceivedObjectsOptions<T>) {
    this.#options = options;
    const { group, version } = options.resource;
    this.#apiVersion = group === '' ? version : `${group}/${version}`;
  }

  /** Throws a `BrokenAnswer` for an object that no name can be given to. */
  receive(raw: T): Received<T> {
    this.requireName(raw);
    const object = this.#withKind(withoutManagedFields(raw));
    const { transform } = this.#options;
    if (transform === undefined) return { object };
    try {
      const answer: unknown = transform(object);
      if (answer === undefined) return 'left out';
      if (!isJsonObject(answer) || !isSameCopy(answer as ApiObject, object)) {
        catchRejection(answer, ignoreFailure);
        throw new TypeError('`transform` returned neither undefined nor an object of the same name and resourceVersion');
      }
      return { object: answer as ApiObject as T };
    } catch (error) {
      const fields = { err: error, namespace: namespaceOf(object), name: nameOf(object) };
      this.#options.logger.error(fields, 'The transform of a reflector failed; the copy before this one is kept');
      return 'failed';
    }
  }

  requireName(object: T): void {
    const { resource, path } = this.#options;
    const { name, namespace }: Partial<Record<string, unknown>> = { ...object.metadata };
    const isNamed = typeof name === 'string' && name !== '';
    if (isNamed && (!resource.namespaced || (typeof namespace === 'string' && namespace !== ''))) return;
    throw new ApiError({ reason: 'BrokenAnswer', message: `GET ${path}: an object of ${resource.resource} has no name` });
  }

  /** A list gives neither apiVersion nor kind to its items; a watch does. */
  #withKind(object: T): T {
    if (object.kind !== undefined && object.apiVersion !== undefined) return object;
    return { apiVersion: this.#apiVersion, kind: this.#options.resource.kind, ...object };
  }
}

/** Nobody here reads managedFields, and they can be larger than the rest of the object. */
function withoutManagedFields<T extends ApiObject>(object: T): T {
  const { metadata } = object;
  if (metadata?.managedFields === undefined) return object;
  delete metadata.managedFields;
  return object;
}

function isSameCopy(answer: ApiObject, object: ApiObject): boolean {
  return (
    nameOf(answer) === nameOf(object) && namespaceOf(answer) === namespaceOf(object) && versionOf(answer) === versionOf(object)
  );
}
