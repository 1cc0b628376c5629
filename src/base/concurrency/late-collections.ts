/**
 * A map that makes its table with its first key. An empty Map takes 184 bytes; a part of a node has many that stay empty while the
 * node has no pods, and a process may have thousands of nodes.
 */
export class LateMap<Key, Value> implements Iterable<[Key, Value]> {
  #map: Map<Key, Value> | undefined;

  get size(): number {
    return this.#map?.size ?? 0;
  }

  get(key: Key): Value | undefined {
    return this.#map?.get(key);
  }

  has(key: Key): boolean {
    return this.#map?.has(key) ?? false;
  }

  set(key: Key, value: Value): this {
    this.#map ??= new Map();
    this.#map.set(key, value);
    return this;
  }

  delete(key: Key): boolean {
    return this.#map?.delete(key) ?? false;
  }

  clear(): void {
    this.#map?.clear();
  }

  keys(): MapIterator<Key> {
    return this.#entries().keys();
  }

  values(): MapIterator<Value> {
    return this.#entries().values();
  }

  entries(): MapIterator<[Key, Value]> {
    return this.#entries().entries();
  }

  [Symbol.iterator](): MapIterator<[Key, Value]> {
    return this.#entries().entries();
  }

  #entries(): Map<Key, Value> {
    return this.#map ?? new Map();
  }
}

/** A set that makes its table with its first value. */
export class LateSet<Value> implements Iterable<Value> {
  #set: Set<Value> | undefined;

  get size(): number {
    return this.#set?.size ?? 0;
  }

  has(value: Value): boolean {
    return this.#set?.has(value) ?? false;
  }

  add(value: Value): this {
    this.#set ??= new Set();
    this.#set.add(value);
    return this;
  }

  delete(value: Value): boolean {
    return this.#set?.delete(value) ?? false;
  }

  clear(): void {
    this.#set?.clear();
  }

  values(): SetIterator<Value> {
    return (this.#set ?? new Set<Value>()).values();
  }

  [Symbol.iterator](): SetIterator<Value> {
    return this.values();
  }
}
