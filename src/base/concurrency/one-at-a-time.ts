/** Lets work of one key run one after another, and work of different keys at once. Nothing is kept of a key without work. */
export class OneAtATime {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Calls `work` once all earlier work of the key has settled. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const result = before.then(work, work);
    const ended: Promise<unknown> = result.then(
      () => this.#forget(key, ended),
      () => this.#forget(key, ended),
    );
    this.#last.set(key, ended);
    return result;
  }

  #forget(key: string, ended: Promise<unknown>): void {
    if (this.#last.get(key) === ended) this.#last.delete(key);
  }
}
