import { FifoSet } from '../../base/concurrency/fifo-set.ts';
import type { ApiObject } from '../resources/api-resource.ts';
import { type ChangeListener, firstChange, joinChanges, type NetChange, type ObjectChange } from './handler-calls.ts';
import { objectKeyOf } from './object-store.ts';

type Waiter<T> = (result: IteratorResult<ObjectChange<T>, undefined>) => void;

/**
 * The changes that one reader has not taken yet, as an async iterator. Each object waits in it once, however often it
 * changed, in the order in which the objects changed first. It ends when it is closed, and drops what waits.
 */
export class ChangeQueue<T extends ApiObject> implements ChangeListener<T>, AsyncIterableIterator<ObjectChange<T>, undefined> {
  readonly #changes = new Map<string, NetChange<T>>();
  /** The keys of the changes, in order. */
  readonly #order = new FifoSet<string>();
  /** The object that comes before all others: half of its change was taken. */
  #begun: string | undefined;
  readonly #waiters: Waiter<T>[] = [];
  readonly #onClose: (queue: ChangeQueue<T>) => void;
  #isClosed = false;

  /** Begins with these objects, as added ones. `onClose` is called once, when the reader or the reflector ends it. */
  constructor(objects: Iterable<T>, onClose: (queue: ChangeQueue<T>) => void) {
    this.#onClose = onClose;
    for (const now of objects) this.#put(objectKeyOf(now), { told: undefined, now, last: undefined });
  }

  /** Takes the next change of an object. The reflector calls it. */
  changed(net: NetChange<T>): void {
    const object = net.now ?? net.told ?? net.last;
    if (this.#isClosed || object === undefined) return;
    const key = objectKeyOf(object);
    const waiting = this.#changes.get(key);
    const joined = waiting === undefined ? net : joinChanges(waiting, net);
    if (firstChange(joined) === undefined) this.#drop(key);
    else this.#put(key, joined);
    this.#serve();
  }

  /** Resolves to the next change, or to the end once the queue is closed. */
  next(): Promise<IteratorResult<ObjectChange<T>, undefined>> {
    if (this.#isClosed) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
      this.#serve();
    });
  }

  /** Frees the queue. A `next` that waits is answered with the end. */
  return(): Promise<IteratorResult<ObjectChange<T>, undefined>> {
    this.close();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** The queue itself. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  /** Ends the queue and drops what waits in it. A `next` that waits is answered with the end. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#changes.clear();
    this.#order.clear();
    for (const waiter of this.#waiters.splice(0)) waiter({ done: true, value: undefined });
    this.#onClose(this);
  }

  #serve(): void {
    while (this.#waiters.length > 0) {
      const change = this.#take();
      if (change === undefined) return;
      this.#waiters.shift()?.({ done: false, value: change });
    }
  }

  #put(key: string, net: NetChange<T>): void {
    this.#changes.set(key, net);
    if (key !== this.#begun) this.#order.add(key);
  }

  #drop(key: string): void {
    this.#changes.delete(key);
    this.#order.delete(key);
    if (key === this.#begun) this.#begun = undefined;
  }

  #take(): ObjectChange<T> | undefined {
    const key = this.#begun ?? this.#order.take();
    const net = key === undefined ? undefined : this.#changes.get(key);
    const first = net && firstChange(net);
    if (key === undefined || first === undefined) return undefined;
    this.#begun = undefined;
    if (first.rest === undefined) {
      this.#changes.delete(key);
    } else {
      // the object's next change keeps its place only while it is the rest of this one
      this.#begun = key;
      this.#changes.set(key, first.rest);
    }
    return first.change;
  }
}
