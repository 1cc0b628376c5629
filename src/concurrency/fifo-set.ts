/** A set whose `take` removes the oldest key. Every operation takes constant time. */
export class FifoSet<Key> {
  readonly #keys = new Set<Key>();
  /** Kept between takes: a new iterator would first pass the places of all keys taken before. */
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
      // an iterator at its end stays there, even when keys are added later
      this.#next = this.#keys.values();
      step = this.#next.next();
    }
    if (step.done) return undefined;
    this.#keys.delete(step.value);
    return step.value;
  }

  clear(): void {
    this.#keys.clear();
    // the old iterator would keep the keys alive
    this.#next = this.#keys.values();
  }
}
