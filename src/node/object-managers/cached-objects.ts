// Behaviour of the object store of pkg/kubelet/util/manager/cache_based_manager.go, v1.36.3.

import { objectBytes } from '../../api/json/bytes.ts';
import { isOlderThan } from '../../api/json/resource-version.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { isStatusManagerError, type StatusManagerError } from '../../base/errors.ts';
import type { ApiObject } from '../../client/resources/api-resource.ts';
import type { ResourceClient } from '../../client/resources/resource-client.ts';
import type { ObjectCounts, ObjectHoldings, PodHoldings } from './object-budget.ts';
import { keyOf, type NamespacedName, notRegistered, readFailure } from './object-errors.ts';
import { newerOf, type ObjectReader, received } from './object-reader.ts';

/** What is known since an object was last invalidated: the object, or that there is none, or that it may not be had, or nothing. */
interface Knowledge<T> {
  object: T | undefined;
  /** The server said so. */
  missing: StatusManagerError | undefined;
  /** It is more than its pods may have. */
  refusal: StatusManagerError | undefined;
  /** When the request for `object`, or for what was refused, was sent; by `elapsed`. */
  askedAt: number;
  /** The request under way: whoever reads meanwhile waits for it, too. */
  request: Promise<T> | undefined;
}

interface CachedObject<T> {
  readonly holdings: ObjectHoldings;
  knowledge: Knowledge<T>;
  /** The newest version that was given out while the object has been referenced. */
  newest: T | undefined;
}

export interface CachedObjectsOptions {
  readonly clock: SteadyClock;
  /** How long an object is served without a request, in milliseconds. Asked at every read. */
  readonly ttlMs: () => number;
  readonly budget: ObjectCounts;
}

/**
 * Strategy `cache`: an object is asked for when it is read, and then served for a while. A new reference invalidates it. A
 * refresh takes what the server has in its cache; an answer older than what is known is dropped, and so is a failure. That
 * an object does not exist is asked again at every read; that there is no room for it, once in that time.
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

  get size(): number {
    return this.#objects.size;
  }

  has(name: NamespacedName): boolean {
    return this.#objects.has(keyOf(name));
  }

  addReference(name: NamespacedName, pod: PodHoldings): void {
    const key = keyOf(name);
    const { budget } = this.#options;
    const cached = this.#objects.get(key) ?? {
      holdings: budget.object(),
      knowledge: nothing<T>(),
      newest: undefined,
    };
    this.#objects.set(key, cached);
    budget.join(cached.holdings, pod);
    cached.knowledge = nothing();
  }

  removeReference(name: NamespacedName, pod: PodHoldings): void {
    const key = keyOf(name);
    const cached = this.#objects.get(key);
    if (cached === undefined) return;
    this.#options.budget.leave(cached.holdings, pod);
    if (cached.holdings.pods.size === 0) this.#objects.delete(key);
  }

  /** An object that was seen elsewhere is more than its pods may have: it is not asked for until the time to live is over. */
  refuse(name: NamespacedName, refusal: StatusManagerError): void {
    const cached = this.#objects.get(keyOf(name));
    if (cached !== undefined) Object.assign(cached.knowledge, { refusal, askedAt: this.#options.clock.elapsed() });
  }

  async get(name: NamespacedName): Promise<T> {
    const cached = this.#objects.get(keyOf(name));
    if (cached === undefined) throw notRegistered(name);
    const { knowledge } = cached;
    if (this.#isFresh(knowledge.askedAt)) {
      if (knowledge.refusal !== undefined) throw knowledge.refusal;
      if (knowledge.object !== undefined) return newerOf(knowledge.object, cached.newest);
    }
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
    for (const { holdings } of this.#objects.values()) {
      for (const pod of [...holdings.pods]) this.#options.budget.leave(holdings, pod);
    }
    this.#objects.clear();
  }

  async #ask(name: NamespacedName, cached: CachedObject<T>, knowledge: Knowledge<T>): Promise<T> {
    const { object: known } = knowledge;
    const newestBefore = cached.newest;
    const { signal } = this.#stopping;
    let askedAt = 0;
    const ask = (): Promise<T> => {
      askedAt = this.#options.clock.elapsed();
      const resourceVersion = known === undefined ? undefined : '0';
      return this.#client.get(name, { resourceVersion, besideStreams: true, signal });
    };
    let object: T;
    try {
      object = received(await this.#options.budget.reads.run(this.#options.budget.flowOf(cached.holdings), ask, signal));
    } catch (error) {
      this.#requireReferenced(name, cached);
      return this.#failed(cached, knowledge, readFailure(this.#client.resource.kind, name, error));
    }
    this.#requireReferenced(name, cached);
    // another request has brought a newer version since this one was sent
    if (cached.newest !== newestBefore) object = newerOf(object, cached.newest);
    if (known !== undefined && isOlderThan(object, known)) return newerOf(known, cached.newest);
    return this.#keep(cached, knowledge, object, askedAt);
  }

  #keep(cached: CachedObject<T>, knowledge: Knowledge<T>, object: T, askedAt: number): T {
    const refusal = this.#options.budget.hold(cached.holdings, objectBytes(object));
    const held = refusal === undefined ? object : undefined;
    Object.assign(knowledge, { object: held, missing: undefined, refusal, askedAt });
    cached.newest = held;
    if (refusal !== undefined) throw refusal;
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

  #isFresh(askedAt: number): boolean {
    return this.#options.clock.elapsed() - askedAt < this.#options.ttlMs();
  }
}

function nothing<T>(): Knowledge<T> {
  return { object: undefined, missing: undefined, refusal: undefined, askedAt: Number.NEGATIVE_INFINITY, request: undefined };
}
