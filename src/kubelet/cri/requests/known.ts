/** What a name stands for in the proto file. Throws for a name that is not there: 0 would stand for another one. */
export function known<K extends string, V>(what: string, values: Readonly<Record<K, V>>, name: K): V {
  if (Object.hasOwn(values, name)) return values[name];
  throw new TypeError(`unknown ${what} ${JSON.stringify(name)}`);
}
