import { LateMap } from '../../base/concurrency/late-collections.ts';
import { invalidArgument } from '../../base/errors.ts';
import { catchRejection, ignoreFailure } from '../../base/guard.ts';
import { optionOfType, requireKnownOptions, requireText } from '../../base/options.ts';
import type { ApiObject } from '../resources/api-resource.ts';

/** The indexes of a store. */
export interface ObjectStoreOptions<T extends ApiObject> {
  /** By the name of the index. A function that throws leaves the object out of its index. */
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
}

/**
 * Objects by namespace and name, and by the values of index functions. What it hands out is shared: a caller must not
 * change it. A `Reflector` fills it by `set`, `delete` and `replace`; nobody else should call these while one does.
 *
 * @example
 * ```ts
 * import { ObjectStore } from 'pod-status-manager/reflector';
 *
 * const store = new ObjectStore({ indexes: { label: ({ metadata }) => Object.values(metadata?.labels ?? {}) } });
 * store.set({ metadata: { name: 'web', namespace: 'default', labels: { tier: 'front' } } });
 * console.log(store.size, store.byIndex('label', 'front')[0]?.metadata?.name); // 1 web
 * ```
 */
export class ObjectStore<T extends ApiObject = ApiObject> {
  /** By namespace, then by name: both texts are the object's own, so a key costs no memory. */
  #namespaces = new LateMap<string, Map<string, T>>();
  readonly #indexes = new LateMap<string, StoreIndex<T>>();
  #size = 0;

  /** Throws ERR_INVALID_OPTION, naming the option, the rule and the value. */
  constructor(options: ObjectStoreOptions<T> = {}) {
    requireKnownOptions('options', options, ['indexes']);
    const { indexes = {} } = options;
    for (const [name, valuesOf] of Object.entries(indexes)) {
      this.#indexes.set(name, new StoreIndex(optionOfType(`indexes.${name}`, valuesOf, 'function')));
    }
  }

  /** How many objects it holds. */
  get size(): number {
    return this.#size;
  }

  /** For an object of the cluster the namespace is undefined or empty. */
  get(namespace: string | undefined, name: string): T | undefined {
    return this.#namespaces.get(namespace ?? '')?.get(name);
  }

  /** All objects, or those of one namespace, in a new array. */
  list(namespace?: string): T[] {
    if (namespace !== undefined) return [...(this.#namespaces.get(namespace)?.values() ?? [])];
    const objects: T[] = [];
    for (const byName of this.#namespaces.values()) {
      // a spread would make each object an argument, and a call takes only so many
      for (const object of byName.values()) objects.push(object);
    }
    return objects;
  }

  /** The objects for which the index's function gave this value, in a new array. Throws ERR_INVALID_ARGUMENT for an unknown index. */
  byIndex(indexName: string, value: string): T[] {
    const index = this.#indexes.get(indexName);
    if (index === undefined) throw invalidArgument('indexName', `one of ${[...this.#indexes.keys()].join(', ')}`, indexName);
    return index.find(value);
  }

  /** Adds an index over what is held and what will come. Throws ERR_INVALID_ARGUMENT for a name that is taken. */
  addIndex(indexName: string, valuesOf: IndexFunction<T>): void {
    requireText('indexName', indexName);
    if (this.#indexes.has(indexName)) throw invalidArgument('indexName', 'the name of no other index', indexName);
    const index = new StoreIndex(optionOfType('valuesOf', valuesOf, 'function'));
    for (const object of this.list()) index.add(object);
    this.#indexes.set(indexName, index);
  }

  /** Holds this object in place of the one of its name, which is returned. */
  set(object: T): T | undefined {
    const namespace = namespaceOf(object);
    let byName = this.#namespaces.get(namespace);
    if (byName === undefined) {
      byName = new Map();
      this.#namespaces.set(namespace, byName);
    }
    const previous = byName.get(objectNameOf(object));
    if (previous === undefined) this.#size += 1;
    byName.set(objectNameOf(object), object);
    for (const index of this.#indexes.values()) {
      if (previous !== undefined) index.remove(previous);
      index.add(object);
    }
    return previous;
  }

  /** Returns the object that was held under this name. */
  delete(namespace: string | undefined, name: string): T | undefined {
    const byName = this.#namespaces.get(namespace ?? '');
    const held = byName?.get(name);
    if (byName === undefined || held === undefined) return undefined;
    byName.delete(name);
    if (byName.size === 0) this.#namespaces.delete(namespace ?? '');
    this.#size -= 1;
    for (const index of this.#indexes.values()) index.remove(held);
    return held;
  }

  /** Holds these objects and no others. Of two with one name the later counts. */
  replace(objects: Iterable<T>): void {
    this.#namespaces = new LateMap();
    this.#size = 0;
    for (const index of this.#indexes.values()) index.clear();
    for (const object of objects) this.set(object);
  }
}

/** The values under which an object is found; none for an object that the index leaves out. */
export type IndexFunction<T> = (object: T) => readonly string[];

const noValues: readonly string[] = [];

/** The objects of a store by the values of one function. The values are those of the moment when the object came in. */
class StoreIndex<T> {
  readonly #valuesOf: IndexFunction<T>;
  readonly #objects = new LateMap<string, Set<T>>();
  readonly #values = new LateMap<T, readonly string[]>();

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

/** Empty for an object of the cluster. */
export function namespaceOf(object: ApiObject): string {
  return object.metadata?.namespace ?? '';
}

export function objectNameOf(object: ApiObject): string {
  return object.metadata?.name ?? '';
}

export function versionOf(object: ApiObject): string {
  return object.metadata?.resourceVersion ?? '';
}

/** `namespace/name`, or the name alone for an object of the cluster. */
export function objectKeyOf(object: ApiObject): string {
  const namespace = namespaceOf(object);
  return namespace === '' ? objectNameOf(object) : `${namespace}/${objectNameOf(object)}`;
}

/** False for an object that was recreated under its name. */
export function isSameObject(a: ApiObject, b: ApiObject): boolean {
  return a.metadata?.uid === b.metadata?.uid;
}
