import { shareEqualParts } from '../../api/json/equal-parts.ts';
import { isJsonObject } from '../../api/json/json.ts';
import { objectFields } from '../../api/pod/pod-log-fields.ts';
import { callGuarded, catchRejection, ignoreFailure } from '../../base/guard.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { ApiObject, ApiResource } from '../resources/api-resource.ts';
import { ApiError } from '../transport/api-error.ts';
import { namespaceOf, objectNameOf, versionOf } from './object-store.ts';

/** Changes an object in place, or returns another one: of the same name, namespace, uid and version. Undefined leaves the object out. */
export type Transform<T> = (object: T) => T | undefined;

/** An object as it goes on; or why there is none. */
export type Received<T> = { readonly object: T } | 'left out' | 'failed';

export interface ReceivedObjectsOptions<T extends ApiObject> {
  readonly resource: ApiResource<T>;
  readonly path: string;
  readonly transform?: Transform<T> | undefined;
  /** True: what is equal in two objects is kept once. */
  readonly shareEqualParts: boolean;
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

  /**
   * `like` is an object that probably has much in common with this one: its copy before, or its neighbour in a list. Throws a
   * `BrokenAnswer` for an object without a name.
   */
  receive(raw: T, like: T | undefined): Received<T> {
    this.#requireName(raw);
    const received = this.#transformed(this.#withKind(withoutManagedFields(raw)));
    if (typeof received === 'object' && like !== undefined && this.#options.shareEqualParts) {
      // what a transform made may refuse to be changed; then it shares less
      callGuarded(() => shareEqualParts(received.object, like), ignoreFailure);
    }
    return received;
  }

  #transformed(object: T): Received<T> {
    const { transform } = this.#options;
    if (transform === undefined) return { object };
    // a transform may change the object in place
    const identity = identityOf(object);
    try {
      const answer: unknown = transform(object);
      if (answer === undefined) return 'left out';
      if (!isJsonObject(answer) || !isSameIdentity(identityOf(answer as ApiObject), identity)) {
        catchRejection(answer, ignoreFailure);
        throw new TypeError(
          '`transform` returned neither undefined nor an object of the same name, namespace, uid and resourceVersion',
        );
      }
      return { object: answer as ApiObject as T };
    } catch (error) {
      const fields = { err: error, ...objectFields(this.#options.resource.kind, identity) };
      this.#options.logger.error(fields, 'the transform of a reflector failed; the copy before this one is kept');
      return 'failed';
    }
  }

  #requireName(object: T): void {
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
  if (object.metadata?.managedFields === undefined) return object;
  // an object that loses a member becomes slow, and several times as large, even by its last one
  const { managedFields: _, ...rest } = object.metadata;
  object.metadata = rest;
  return object;
}

interface ObjectIdentity {
  readonly name: string;
  readonly namespace: string;
  readonly version: string;
  readonly uid: string | undefined;
}

function identityOf(object: ApiObject): ObjectIdentity {
  return { name: objectNameOf(object), namespace: namespaceOf(object), version: versionOf(object), uid: object.metadata?.uid };
}

function isSameIdentity(a: ObjectIdentity, b: ObjectIdentity): boolean {
  return a.name === b.name && a.namespace === b.namespace && a.version === b.version && a.uid === b.uid;
}
