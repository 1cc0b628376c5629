import type { DebugPodRow } from '../../../../src/observe/debug/debug-api.ts';
import { matcherOf, type PodFilter, searchTextOf } from '../../../../src/observe/debug/pod-table.ts';
import { noFilter } from './pod-filter.ts';
import { compareBy, firstOrder, movesBy, type PodOrder } from './pod-order.ts';

interface Item {
  row: DebugPodRow;
  readonly searchText: string;
}

/**
 * All pods, and those that are shown, in their order. Changes are cheap: what they make necessary is done when `shown` is
 * read, once for all of them, and rows are sorted only when one has moved.
 */
export class PodRows {
  readonly #items = new Map<string, Item>();
  /** Every item, in the order; sorted when `#mustSort` is false. */
  #ordered: Item[] = [];
  #shown: readonly DebugPodRow[] = [];
  #mustSort = false;
  #mustFilter = false;
  #order: PodOrder = firstOrder;
  #filter: PodFilter = noFilter;

  get size(): number {
    return this.#items.size;
  }

  get order(): PodOrder {
    return this.#order;
  }

  get filter(): PodFilter {
    return this.#filter;
  }

  /** The rows that pass the filter, in order. The same array until something changes. */
  get shown(): readonly DebugPodRow[] {
    if (this.#mustSort) this.#sort();
    if (this.#mustFilter) this.#select();
    return this.#shown;
  }

  get(podUID: string): DebugPodRow | undefined {
    return this.#items.get(podUID)?.row;
  }

  replaceAll(rows: readonly DebugPodRow[]): void {
    this.#items.clear();
    this.#ordered = [];
    this.#mustFilter = true;
    this.apply(rows, []);
  }

  apply(changed: readonly DebugPodRow[], removed: readonly string[]): void {
    for (const row of changed) this.#put(row);
    const gone = removed.filter((podUID) => this.#items.delete(podUID));
    if (gone.length > 0) this.#ordered = this.#ordered.filter(({ row }) => this.#items.has(row.podUID));
    this.#mustFilter ||= changed.length > 0 || gone.length > 0;
  }

  sortBy(order: PodOrder): void {
    this.#order = order;
    this.#mustSort = true;
    this.#mustFilter = true;
  }

  filterBy(filter: PodFilter): void {
    this.#filter = filter;
    this.#mustFilter = true;
  }

  #put(row: DebugPodRow): void {
    const item = this.#items.get(row.podUID);
    if (item === undefined) {
      const added = { row, searchText: searchTextOf(row) };
      this.#items.set(row.podUID, added);
      this.#ordered.push(added);
      this.#mustSort = true;
      return;
    }
    this.#mustSort ||= movesBy(this.#order, item.row, row);
    item.row = row;
  }

  #sort(): void {
    const compare = compareBy(this.#order);
    this.#ordered.sort((a, b) => compare(a.row, b.row));
    this.#mustSort = false;
    this.#mustFilter = true;
  }

  #select(): void {
    const matches = matcherOf(this.#filter);
    const shown: DebugPodRow[] = [];
    for (const { row, searchText } of this.#ordered) if (matches(row, searchText)) shown.push(row);
    this.#shown = shown;
    this.#mustFilter = false;
  }
}
