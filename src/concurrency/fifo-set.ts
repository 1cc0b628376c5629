/** A set that gives its members back in order of arrival, each once. Every operation takes constant time. */
export class FifoSet<Key> {
  readonly #keys = new Set<Key>();
  /** Kept between takes: a fresh iterator would walk over the places of all keys taken before. */
  #next = this.#keys.values();

  get size(): number {
    return this.#keys.size;
  }

  has(key: Key): boolean {
    return this.#keys.has(key);
  }

  /** A key already in the set keeps its place. */
  add(key: Key): void {
    this.#keys.add(key);
  }

  delete(key: Key): boolean {
    return this.#keys.delete(key);
  }

  take(): Key | undefined {
    if (this.#keys.size === 0) return undefined;
    let step = this.#next.next();
    if (step.done) {
      // an iterator that has come to its end stays there, whatever is added later
      this.#next = this.#keys.values();
      step = this.#next.next();
    }
    if (step.done) return undefined;
    this.#keys.delete(step.value);
    return step.value;
  }

  clear(): void {
    this.#keys.clear();
  }
}
