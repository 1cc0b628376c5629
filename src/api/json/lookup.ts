/** Lists that are no longer than this are searched: an index would cost more. */
export const longestSearched = 16;

/**
 * Finds the first item of a list with a key. The size of a list is its author's: a long one is gone through once, however
 * many questions follow. With `guess` the item at that index is looked at first.
 */
export function lookupBy<T>(
  list: readonly T[] | null | undefined,
  keyOf: (item: T) => unknown,
): (key: unknown, guess?: number) => T | undefined {
  const items = list ?? [];
  let index: ReadonlyMap<unknown, T> | undefined;
  return (key, guess) => {
    const near = guess === undefined ? undefined : items[guess];
    if (near !== undefined && keyOf(near) === key) return near;
    if (items.length <= longestSearched) return firstWith(items, keyOf, key);
    index ??= firstByKey(items, keyOf);
    return index.get(key);
  };
}

function firstWith<T>(items: readonly T[], keyOf: (item: T) => unknown, key: unknown): T | undefined {
  for (const item of items) if (keyOf(item) === key) return item;
  return undefined;
}

function firstByKey<T>(items: readonly T[], keyOf: (item: T) => unknown): ReadonlyMap<unknown, T> {
  const index = new Map<unknown, T>();
  for (const item of items) {
    const key = keyOf(item);
    if (!index.has(key)) index.set(key, item);
  }
  return index;
}

/** The items that have a name, found by it: containers, and the statuses of containers. */
export function lookupByName<T extends { readonly name: string }>(
  list: readonly T[] | null | undefined,
): (name: unknown, guess?: number) => T | undefined {
  return lookupBy(list, ({ name }) => name);
}
