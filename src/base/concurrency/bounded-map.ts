import { FifoSet } from './fifo-set.ts';
import { LateMap } from './late-collections.ts';

/** A map of at most so many keys: where one more is set, the key goes that was set longest ago. */
export class BoundedMap<Key, Value> {
  readonly #most: number;
  readonly #values = new LateMap<Key, Value>();
  readonly #order = new FifoSet<Key>();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: Key): Value | undefined {
    return this.#values.get(key);
  }

  keys(): Iterable<Key> {
    return this.#values.keys();
  }

  /** The key becomes the one that was set last. */
  set(key: Key, value: Value): void {
    this.#order.delete(key);
    this.#order.add(key);
    this.#values.set(key, value);
    if (this.#values.size > this.#most) this.#values.delete(this.#order.take() as Key);
  }

  delete(key: Key): void {
    this.#order.delete(key);
    this.#values.delete(key);
  }
}
