import type { JsonObject } from '../../api/json/types.ts';

/** What a database sets back: the objects of one resource. */
export interface Restorable {
  /** The qualified name of the resource. */
  readonly key: string;
  all(): readonly JsonObject[];
  /** Replaces every object, ends every watch, and forgets every event. */
  restore(objects: readonly JsonObject[]): void;
}

/** The objects of several resources, by the qualified name of the resource. */
export type ObjectsByResource = ReadonlyMap<string, readonly object[]>;

/** What the stores of one server share, as they share an etcd: the one counter of resourceVersions, and backups. */
export class Database {
  readonly #stores = new Map<string, Restorable>();
  #version = 0;

  /** The resourceVersion of the newest change of any object. */
  get resourceVersion(): string {
    return String(this.#version);
  }

  /** The resourceVersion of a change that happens now. */
  nextVersion(): string {
    this.#version += 1;
    return this.resourceVersion;
  }

  add(store: Restorable): void {
    this.#stores.set(store.key, store);
  }

  /** Another database at the same resourceVersion, for stores that are tried out. */
  trial(): Database {
    const copy = new Database();
    copy.#version = this.#version;
    return copy;
  }

  /** The objects of every resource but the one with this key. */
  othersThan(key: string): ObjectsByResource {
    const others = [...this.#stores].filter(([each]) => each !== key);
    return new Map(others.map(([each, store]) => [each, Object.freeze(store.all())]));
  }

  /** Sets the counter and the objects back. A resource that the `objects` do not name has none afterwards. */
  restore(resourceVersion: string, objects: ObjectsByResource): void {
    this.#version = Number(resourceVersion);
    for (const [key, store] of this.#stores) store.restore((objects.get(key) ?? []) as readonly JsonObject[]);
  }
}
