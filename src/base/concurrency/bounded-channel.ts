/**
 * A bounded channel of hints with one consumer. A key waits in it at most once. A key sent to a full or a closed channel
 * is dropped; a full channel then sets its overflow mark. Sending never waits.
 */
export class BoundedChannel<Key> {
  readonly capacity: number;
  readonly #keys = new FifoSet<Key>();
  #overflowed = false;
  #dropped = 0;
  #closed = false;
  #wake: (() => void) | undefined;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get size(): number {
    return this.#keys.size;
  }

  /** How many keys were dropped because the channel was full. */
  get dropped(): number {
    return this.#dropped;
  }

  /** True when the key is in the channel now; false when it was dropped. */
  trySend(key: Key): boolean {
    if (this.#closed) return false;
    if (this.#keys.has(key)) return true;
    if (this.#keys.size >= this.capacity) {
      this.#overflowed = true;
      this.#dropped += 1;
      this.#wakeReader();
      return false;
    }
    this.#keys.add(key);
    this.#wakeReader();
    return true;
  }

  /** The oldest key, or undefined when the channel is empty. */
  tryReceive(): Key | undefined {
    return this.#keys.take();
  }

  /** True when the overflow mark is set; clears the mark. */
  takeOverflow(): boolean {
    const overflowed = this.#overflowed;
    this.#overflowed = false;
    return overflowed;
  }

  /** Resolves to true as soon as there is a key or an overflow mark, to false when the channel is closed. Nothing is consumed. */
  readable(): Promise<boolean> {
    if (this.#closed) return Promise.resolve(false);
    if (this.#keys.size > 0 || this.#overflowed) return Promise.resolve(true);
    return new Promise((resolve) => {
      this.#wake = () => resolve(!this.#closed);
    });
  }

  /** Drops every key and wakes the reader. A second call does nothing. */
  close(): void {
    this.#closed = true;
    this.#keys.clear();
    this.#wakeReader();
  }

  #wakeReader(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

interface Place<Key> {
  readonly key: Key;
  older: Place<Key> | undefined;
  newer: Place<Key> | undefined;
}

/**
 * A set whose `take` removes the oldest key. Every operation takes constant time, and what is held is held by the keys that are
 * in it. A plain Set gives only one of the two: an iterator that is kept holds on to every table that the Set has outgrown since
 * it was last moved, and a new one passes the places of all keys that were removed.
 */
export class FifoSet<Key> {
  readonly #places = new Map<Key, Place<Key>>();
  #oldest: Place<Key> | undefined;
  #newest: Place<Key> | undefined;

  get size(): number {
    return this.#places.size;
  }

  has(key: Key): boolean {
    return this.#places.has(key);
  }

  /** A key already in the set keeps its place. */
  add(key: Key): void {
    if (this.#places.has(key)) return;
    const place: Place<Key> = { key, older: this.#newest, newer: undefined };
    if (this.#newest === undefined) this.#oldest = place;
    else this.#newest.newer = place;
    this.#newest = place;
    this.#places.set(key, place);
  }

  delete(key: Key): boolean {
    const place = this.#places.get(key);
    if (place === undefined) return false;
    this.#remove(place);
    return true;
  }

  take(): Key | undefined {
    const place = this.#oldest;
    if (place === undefined) return undefined;
    this.#remove(place);
    return place.key;
  }

  clear(): void {
    this.#places.clear();
    this.#oldest = undefined;
    this.#newest = undefined;
  }

  #remove({ key, older, newer }: Place<Key>): void {
    this.#places.delete(key);
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
  }
}
