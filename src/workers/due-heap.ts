/** A key with the time at which it is due. */
export interface DueKey {
  readonly key: string;
  readonly dueAt: number;
}

/** A heap of keys, the one that is due first on top. Adding and taking cost the logarithm of its size. */
export class DueHeap {
  #items: DueKey[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** The key that is due first. */
  get first(): DueKey | undefined {
    return this.#items[0];
  }

  add(item: DueKey): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = items[above] as DueKey;
      if (parent.dueAt <= item.dueAt) break;
      items[at] = parent;
      at = above;
    }
    items[at] = item;
  }

  /** Removes the key that is due first, and returns it. */
  take(): DueKey | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return top;
    let at = 0;
    for (let below = 1; below < items.length; below = 2 * at + 1) {
      if (below + 1 < items.length && (items[below + 1] as DueKey).dueAt < (items[below] as DueKey).dueAt) below += 1;
      const child = items[below] as DueKey;
      if (child.dueAt >= last.dueAt) break;
      items[at] = child;
      at = below;
    }
    items[at] = last;
    return top;
  }

  /** Keeps only the items for which `keep` is true. */
  prune(keep: (item: DueKey) => boolean): void {
    const kept = this.#items.filter(keep);
    this.#items = [];
    for (const item of kept) this.add(item);
  }
}
