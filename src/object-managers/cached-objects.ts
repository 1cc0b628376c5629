// Behaviour of the object store of pkg/kubelet/util/manager/cache_based_manager.go, v1.36.3.

import type { ApiObject } from '../client/api-resource.ts';
import type { ResourceClient } from '../client/resource-client.ts';
import { isStatusManagerError, type StatusManagerError } from '../errors.ts';
import type { Clock } from '../seams/clock.ts';
import { isOlderThan } from '../wire/resource-version.ts';
import { received } from './frozen.ts';
import { newerOf } from './newer-object.ts';
import { notRegistered, readFailure } from './object-errors.ts';
import { keyOf, type NamespacedName } from './object-name.ts';
import type { ObjectReader } from './object-reader.ts';

/** What is known since an object was last invalidated: the object, or that there is none, or nothing. */
interface Knowledge<T> {
  object: T | undefined;
  /** The server said so. */
  missing: StatusManagerError | undefined;
  /** When the request for `object` was sent. */
  askedAt: number;
  /** The request under way: whoever reads meanwhile waits for it, too. */
  request: Promise<T> | undefined;
}

interface CachedObject<T> {
  references: number;
  knowledge: Knowledge<T>;
  /** The newest version that was given out while the object has been referenced. */
  newest: T | undefined;
}

export interface CachedObjectsOptions {
  readonly clock: Clock;
  /** How long an object is served without a request, in milliseconds. Asked at every read. */
  readonly ttlMs: () => number;
}

/**
 * Strategy `cache`: an object is asked for when it is read, and then served for a while. A new reference invalidates it. A
 * refresh takes what the server has in its cache; an answer older than what is known is dropped, and so is a failure. That
 * an object does not exist is asked again at every read.
 */
export class CachedObjects<T extends ApiObject> implements ObjectReader<T> {
  readonly #client: ResourceClient<T>;
  readonly #options: CachedObjectsOptions;
  readonly #objects = new Map<string, CachedObject<T>>();
  readonly #stopping = new AbortController();

  constructor(client: ResourceClient<T>, options: CachedObjectsOptions) {
    this.#client = client;
    this.#options = options;
  }

  addReference(name: NamespacedName): void {
    const key = keyOf(name);
    const cached = this.#objects.get(key);
    if (cached === undefined) {
      this.#objects.set(key, { references: 1, knowledge: nothing(), newest: undefined });
      return;
    }
    cached.references += 1;
    cached.knowledge = nothing();
  }

  removeReference(name: NamespacedName): void {
    const key = keyOf(name);
    const cached = this.#objects.get(key);
    if (cached === undefined) return;
    cached.references -= 1;
    if (cached.references === 0) this.#objects.delete(key);
  }

  async get(name: NamespacedName): Promise<T> {
    const cached = this.#objects.get(keyOf(name));
    if (cached === undefined) throw notRegistered(name);
    const { knowledge } = cached;
    if (knowledge.object !== undefined && this.#isFresh(knowledge.askedAt)) return newerOf(knowledge.object, cached.newest);
    if (knowledge.request === undefined) {
      knowledge.request = this.#ask(name, cached, knowledge);
      const done = (): void => {
        knowledge.request = undefined;
      };
      knowledge.request.then(done, done);
    }
    return knowledge.request;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#objects.clear();
  }

  async #ask(name: NamespacedName, cached: CachedObject<T>, knowledge: Knowledge<T>): Promise<T> {
    const { object: known } = knowledge;
    const newestBefore = cached.newest;
    const askedAt = this.#options.clock.now();
    const resourceVersion = known === undefined ? undefined : '0';
    let object: T;
    try {
      object = received(await this.#client.get(name, { resourceVersion, besideStreams: true, signal: this.#stopping.signal }));
    } catch (error) {
      this.#requireReferenced(name, cached);
      return this.#failed(cached, knowledge, readFailure(this.#client.resource.kind, name, error));
    }
    this.#requireReferenced(name, cached);
    // another request has brought a newer version since this one was sent
    if (cached.newest !== newestBefore) object = newerOf(object, cached.newest);
    if (known !== undefined && isOlderThan(object, known)) return newerOf(known, cached.newest);
    Object.assign(knowledge, { object, missing: undefined, askedAt });
    cached.newest = object;
    return object;
  }

  /** What is served although the request failed. Throws the failure where no object is known. */
  #failed(cached: CachedObject<T>, knowledge: Knowledge<T>, failure: unknown): T {
    if (isStatusManagerError(failure, 'ERR_NOT_FOUND')) Object.assign(knowledge, { object: undefined, missing: failure });
    if (knowledge.object !== undefined) return newerOf(knowledge.object, cached.newest);
    throw knowledge.missing ?? failure;
  }

  /** An object that is let go of meanwhile may be referenced anew, and newer versions given out: this answer is not. */
  #requireReferenced(name: NamespacedName, cached: CachedObject<T>): void {
    if (this.#objects.get(keyOf(name)) !== cached) throw notRegistered(name);
  }

  /** A clock that was set back makes nothing fresh. */
  #isFresh(askedAt: number): boolean {
    const age = this.#options.clock.now() - askedAt;
    return age >= 0 && age < this.#options.ttlMs();
  }
}

function nothing<T>(): Knowledge<T> {
  return { object: undefined, missing: undefined, askedAt: 0, request: undefined };
}
