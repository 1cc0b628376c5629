import type { ApiObject } from '../client/api-resource.ts';
import type { ResourceClient } from '../client/resource-client.ts';
import { received } from './frozen.ts';
import { readFailure } from './object-errors.ts';
import type { NamespacedName } from './object-name.ts';
import type { ObjectReader } from './object-reader.ts';

/** Strategy `get`: each read is a request for the newest version. Nothing is kept, so references mean nothing. */
export class DirectObjects<T extends ApiObject> implements ObjectReader<T> {
  readonly #client: ResourceClient<T>;
  readonly #stopping = new AbortController();

  constructor(client: ResourceClient<T>) {
    this.#client = client;
  }

  async get(object: NamespacedName): Promise<T> {
    try {
      return received(await this.#client.get(object, { besideStreams: true, signal: this.#stopping.signal }));
    } catch (error) {
      throw readFailure(this.#client.resource.kind, object, error);
    }
  }

  addReference(): void {}

  removeReference(): void {}

  async stop(): Promise<void> {
    this.#stopping.abort();
  }
}
