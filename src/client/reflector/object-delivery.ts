import { isEqualJson } from '../../api/json/json.ts';
import { isOlderThan } from '../../api/json/resource-version.ts';
import type { ApiObject } from '../resources/api-resource.ts';
import { StaleListError } from './failures.ts';
import type { ChangeListener, NetChange } from './handler-calls.ts';
import type { ReadList } from './list-watch.ts';
import { isSameObject, namespaceOf, type ObjectStore, objectKeyOf, objectNameOf, versionOf } from './object-store.ts';

export type DeliveredList<T> = Pick<ReadList<T>, 'objects' | 'failedKeys' | 'isConsistent'>;

/** Keeps the store up to date, and tells the listeners of each change once, after it is in the store. */
export class ObjectDelivery<T extends ApiObject> {
  readonly #store: ObjectStore<T>;
  readonly #listeners: ReadonlySet<ChangeListener<T>>;
  /** Before the first list the listeners know nothing, also where the store was filled by an earlier reflector. */
  #isFirstList = true;

  constructor(store: ObjectStore<T>, listeners: ReadonlySet<ChangeListener<T>>) {
    this.#store = store;
    this.#listeners = listeners;
  }

  /** The objects that the listeners were told of. */
  toldObjects(): readonly T[] {
    return this.#isFirstList ? [] : this.#store.list();
  }

  /**
   * A full list, each name once: tells of what is gone, then of what is new or other, in the order of the list. A consistent one is the
   * truth, also where it shows older copies, or other content under a known version; any other one that shows an older copy
   * is refused with a `StaleListError`.
   */
  replace({ objects, failedKeys, isConsistent }: DeliveredList<T>): void {
    const listeners = [...this.#listeners];
    if (!isConsistent) this.#refuseOlder(objects);
    const before = this.#store.list();
    const failed = before.filter((held) => failedKeys.has(objectKeyOf(held)));
    let changes: NetChange<T>[] = [];
    const listed = objects.map((object) => {
      const held = this.held(object);
      const now = held !== undefined && this.#isSame(object, held, isConsistent) ? held : object;
      if (this.#isFirstList || now !== held) changes.push({ told: this.#isFirstList ? undefined : held, now, last: undefined });
      return now;
    });
    this.#store.replace([...failed, ...listed]);
    if (this.#isFirstList) changes = [...failed.map((now) => ({ told: undefined, now, last: undefined })), ...changes];
    else this.#tellOfGone(before, listeners);
    this.#isFirstList = false;
    for (const change of changes) this.#tell(change, listeners);
  }

  /** The copy that is held of this object. */
  held(object: T): T | undefined {
    return this.#store.get(namespaceOf(object), objectNameOf(object));
  }

  /** One object, from a watch. The version that was handed on before is not handed on again. */
  set(now: T): void {
    const told = this.held(now);
    if (told !== undefined && isSameObject(told, now) && versionOf(told) === versionOf(now)) return;
    this.#store.set(now);
    this.#tell({ told, now, last: undefined });
  }

  /** `last` is the object as the server showed it last; undefined when that cannot be shown. */
  remove(namespace: string, name: string, last: T | undefined): void {
    const told = this.#store.delete(namespace, name);
    if (told !== undefined) this.#tell({ told, now: undefined, last });
  }

  #tellOfGone(before: readonly T[], listeners: readonly ChangeListener<T>[]): void {
    for (const told of before) {
      const now = this.held(told);
      if (now === undefined) this.#tell({ told, now, last: undefined }, listeners);
    }
  }

  #refuseOlder(objects: readonly T[]): void {
    for (const object of objects) {
      const held = this.held(object);
      if (held !== undefined && isOlderThan(object, held)) throw new StaleListError('A list shows an object older than it was');
    }
  }

  #isSame(object: T, held: T, isConsistent: boolean): boolean {
    if (!isSameObject(object, held) || versionOf(object) !== versionOf(held)) return false;
    // after a restore of etcd a version can come again with other content
    return !isConsistent || isEqualJson(object, held);
  }

  /** A listener that a handler adds meanwhile begins with the store as it is: it is told of no change that the store shows. */
  #tell(net: NetChange<T>, listeners: readonly ChangeListener<T>[] = [...this.#listeners]): void {
    for (const listener of listeners) listener.changed(net);
  }
}
