import { LateMap } from './late-collections.ts';

/** True where `first` comes before `second`. */
export type Before<Item> = (first: Item, second: Item) => boolean;

interface Entry<Item> {
  readonly key: string;
  item: Item;
  /** Grows with each key that is added: of equal items the older one comes first. */
  readonly age: number;
  /** The place in the heap. */
  at: number;
}

/**
 * Items by key, the one that comes before all others on top. Adding, removing and taking cost the logarithm of its size. An order that
 * contradicts itself gives some order, and loses no item.
 */
export class KeyedHeap<Item> {
  readonly #before: Before<Item>;
  readonly #entries: Entry<Item>[] = [];
  readonly #byKey = new LateMap<string, Entry<Item>>();
  #added = 0;

  constructor(before: Before<Item>) {
    this.#before = before;
  }

  get size(): number {
    return this.#entries.length;
  }

  get first(): Item | undefined {
    return this.#entries[0]?.item;
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  get(key: string): Item | undefined {
    return this.#byKey.get(key)?.item;
  }

  /** Adds an item, or puts it in the place of the one that has the key. To be called, too, when an item's order has changed. */
  set(key: string, item: Item): void {
    let entry = this.#byKey.get(key);
    if (entry === undefined) {
      this.#added += 1;
      entry = { key, item, age: this.#added, at: this.#entries.length };
      this.#byKey.set(key, entry);
      this.#entries.push(entry);
    }
    entry.item = item;
    this.#settle(entry);
  }

  delete(key: string): Item | undefined {
    const entry = this.#byKey.get(key);
    if (entry === undefined) return undefined;
    this.#byKey.delete(key);
    const last = this.#entries.pop() as Entry<Item>;
    if (last !== entry) {
      last.at = entry.at;
      this.#entries[last.at] = last;
      this.#settle(last);
    }
    return entry.item;
  }

  /** Removes the first item, and returns it. */
  take(): Item | undefined {
    const first = this.#entries[0];
    return first === undefined ? undefined : this.delete(first.key);
  }

  clear(): void {
    this.#entries.length = 0;
    this.#byKey.clear();
  }

  /** In no order. */
  *values(): Generator<Item> {
    for (const { item } of this.#entries) yield item;
  }

  #settle(entry: Entry<Item>): void {
    this.#rise(entry);
    this.#sink(entry);
  }

  #rise(entry: Entry<Item>): void {
    const entries = this.#entries;
    while (entry.at > 0) {
      const parent = entries[(entry.at - 1) >> 1] as Entry<Item>;
      if (!this.#precedes(entry, parent)) return;
      this.#swap(entry, parent);
    }
  }

  #sink(entry: Entry<Item>): void {
    const entries = this.#entries;
    for (let below = 2 * entry.at + 1; below < entries.length; below = 2 * entry.at + 1) {
      let child = entries[below] as Entry<Item>;
      const other = entries[below + 1];
      if (other !== undefined && this.#precedes(other, child)) child = other;
      if (!this.#precedes(child, entry)) return;
      this.#swap(entry, child);
    }
  }

  #precedes(first: Entry<Item>, second: Entry<Item>): boolean {
    if (this.#before(first.item, second.item)) return true;
    return first.age < second.age && !this.#before(second.item, first.item);
  }

  #swap(first: Entry<Item>, second: Entry<Item>): void {
    const { at } = first;
    first.at = second.at;
    second.at = at;
    this.#entries[first.at] = first;
    this.#entries[second.at] = second;
  }
}
