import type { ApiObject } from '../../client/resources/api-resource.ts';
import type { ResourceClient } from '../../client/resources/resource-client.ts';
import type { ObjectCounts } from './object-budget.ts';
import { keyOf, type NamespacedName, readFailure } from './object-errors.ts';
import { newerOf, type ObjectReader, received } from './object-reader.ts';

interface ReadsUnderWay<T> {
  count: number;
  /** The newest answer of the reads since the first of them began. */
  newest: T | undefined;
}

/**
 * Strategy `get`: each read is a request for the newest version; references mean nothing. While reads of one object
 * overlap, none gives an older version than one of them gave before. A read that fails changes nothing for the others, and
 * nothing is kept of an object once no read of it is under way. Few requests are under way at once, and namespaces take turns.
 */
export class DirectObjects<T extends ApiObject> implements ObjectReader<T> {
  readonly #client: ResourceClient<T>;
  readonly #budget: ObjectCounts;
  readonly #stopping = new AbortController();
  readonly #underWay = new Map<string, ReadsUnderWay<T>>();

  constructor(client: ResourceClient<T>, budget: ObjectCounts) {
    this.#client = client;
    this.#budget = budget;
  }

  async get(object: NamespacedName): Promise<T> {
    const key = keyOf(object);
    const reads = this.#underWay.get(key) ?? { count: 0, newest: undefined };
    this.#underWay.set(key, reads);
    reads.count += 1;
    const { signal } = this.#stopping;
    const ask = (): Promise<T> => this.#client.get(object, { besideStreams: true, signal });
    try {
      const answer = received(await this.#budget.reads.run({ group: object.namespace, member: '' }, ask, signal));
      reads.newest = newerOf(answer, reads.newest);
      return reads.newest;
    } catch (error) {
      throw readFailure(this.#client.resource.kind, object, error);
    } finally {
      reads.count -= 1;
      if (reads.count === 0) this.#underWay.delete(key);
    }
  }

  addReference(): void {}

  removeReference(): void {}

  async stop(): Promise<void> {
    this.#stopping.abort();
  }
}
