import { invalidArgument } from '../../base/errors.ts';
import { optionOfType, requireKnownOptions, requireText } from '../../base/options.ts';
import type { ApiObject } from '../resources/api-resource.ts';
import { nameOf, namespaceOf } from './object-identity.ts';
import { type IndexFunction, StoreIndex } from './store-index.ts';

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
  #namespaces = new Map<string, Map<string, T>>();
  readonly #indexes = new Map<string, StoreIndex<T>>();
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
    const previous = byName.get(nameOf(object));
    if (previous === undefined) this.#size += 1;
    byName.set(nameOf(object), object);
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
    this.#namespaces = new Map();
    this.#size = 0;
    for (const index of this.#indexes.values()) index.clear();
    for (const object of objects) this.set(object);
  }
}
