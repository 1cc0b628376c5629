import { LateMap } from './late-collections.ts';

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
  readonly #places = new LateMap<Key, Place<Key>>();
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
