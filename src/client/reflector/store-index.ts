import { catchRejection, ignoreFailure } from '../../base/guard.ts';

/** The values under which an object is found; none for an object that the index leaves out. */
export type IndexFunction<T> = (object: T) => readonly string[];

const noValues: readonly string[] = [];

/** The objects of a store by the values of one function. The values are those of the moment when the object came in. */
export class StoreIndex<T> {
  readonly #valuesOf: IndexFunction<T>;
  readonly #objects = new Map<string, Set<T>>();
  readonly #values = new Map<T, readonly string[]>();

  constructor(valuesOf: IndexFunction<T>) {
    this.#valuesOf = valuesOf;
  }

  find(value: string): T[] {
    return [...(this.#objects.get(value) ?? [])];
  }

  add(object: T): void {
    const values = this.#ask(object);
    if (values.length === 0) return;
    this.#values.set(object, values);
    for (const value of values) {
      const found = this.#objects.get(value);
      if (found === undefined) this.#objects.set(value, new Set([object]));
      else found.add(object);
    }
  }

  remove(object: T): void {
    for (const value of this.#values.get(object) ?? noValues) {
      const found = this.#objects.get(value);
      found?.delete(object);
      if (found?.size === 0) this.#objects.delete(value);
    }
    this.#values.delete(object);
  }

  clear(): void {
    this.#objects.clear();
    this.#values.clear();
  }

  /** A function that throws, or answers anything but a list of texts, leaves the object out of this index. */
  #ask(object: T): readonly string[] {
    try {
      const values: unknown = this.#valuesOf(object);
      catchRejection(values, ignoreFailure);
      return Array.isArray(values) ? values.filter((value) => typeof value === 'string') : noValues;
    } catch {
      return noValues;
    }
  }
}
