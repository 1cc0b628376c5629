function refuse(): never {
  throw new TypeError('this map is read-only');
}

/** Makes the map read-only: `set`, `delete` and `clear` throw a TypeError. Returns the map. */
export function readOnlyMap<K, V>(map: Map<K, V>): ReadonlyMap<K, V> {
  const value = refuse;
  return Object.freeze(Object.defineProperties(map, { set: { value }, delete: { value }, clear: { value } }));
}
