import { callGuarded, ignoreFailure } from '../guard.ts';

/** What is to be read before a sink is collected. */
export class Readers {
  readonly #reads = new Set<() => void>();
  #isRead = false;

  /** Returns a function that ends it. */
  add(read: () => void): () => void {
    const entry = (): void => void callGuarded(read, ignoreFailure);
    this.#reads.add(entry);
    return () => void this.#reads.delete(entry);
  }

  /** Calls each, but for a second collection in the same turn of the event loop. */
  read(): void {
    if (this.#isRead) return;
    this.#isRead = true;
    queueMicrotask(() => {
      this.#isRead = false;
    });
    for (const read of this.#reads) read();
  }

  close(): void {
    this.#reads.clear();
  }
}
