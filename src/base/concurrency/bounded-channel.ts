import { FifoSet } from './fifo-set.ts';

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
