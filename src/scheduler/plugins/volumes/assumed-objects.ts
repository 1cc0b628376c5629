// Behaviour of pkg/scheduler/framework/plugins/volumebinding passiveAssumeCache, v1.36.3.
import { objectKeyOf, versionOf } from '../../../client/reflector/object-store.ts';
import type { ApiObject } from '../../../client/resources/api-resource.ts';
import type { ObjectLister } from '../../framework/cluster-objects.ts';

/**
 * Objects as the watch has brought them, and in the place of some of them how they will be once the server has taken a change. Any other
 * version that the watch brings counts more. There is no more of them than pods that are being bound have volumes.
 */
export class AssumedObjects<T extends ApiObject> {
  readonly #lister: ObjectLister<T>;
  readonly #assumed = new Map<string, T>();

  constructor(lister: ObjectLister<T>) {
    this.#lister = lister;
    lister.onChange((before, after) => this.#seen(before, after));
  }

  /** How many objects are not as the watch has brought them. */
  get size(): number {
    return this.#assumed.size;
  }

  get(namespace: string | undefined, name: string): T | undefined {
    const stored = this.#lister.get(namespace, name);
    return stored && this.current(stored);
  }

  /** As the watch has brought it. */
  stored(namespace: string | undefined, name: string): T | undefined {
    return this.#lister.get(namespace, name);
  }

  /** What is assumed of an object that the lister has, or the object itself. */
  current(stored: T): T {
    if (this.#assumed.size === 0) return stored;
    const assumed = this.#assumed.get(objectKeyOf(stored));
    return assumed !== undefined && versionOf(assumed) === versionOf(stored) ? assumed : stored;
  }

  /** Throws Error where the object is of another version than that which the watch has brought: nothing is assumed then. */
  assume(object: T): void {
    const { namespace, name = '' } = object.metadata ?? {};
    const key = objectKeyOf(object);
    const stored = this.#lister.get(namespace, name);
    if (stored === undefined) throw new Error(`${JSON.stringify(key)} not found`);
    if (versionOf(stored) !== versionOf(object)) {
      const versions = `stored: ${versionOf(stored)}, assume: ${versionOf(object)}`;
      throw new Error(`${JSON.stringify(key)} is out of sync (${versions})`);
    }
    this.#assumed.set(key, object);
  }

  /** Nothing for an object that is not assumed, or no more. */
  restore(assumed: T): void {
    const key = objectKeyOf(assumed);
    if (this.#assumed.get(key) === assumed) this.#assumed.delete(key);
  }

  #seen(before: T | undefined, after: T | undefined): void {
    const seen = after ?? before;
    if (seen === undefined) return;
    const key = objectKeyOf(seen);
    const assumed = this.#assumed.get(key);
    // a scheduler in memory may know of no versions: every change is another one then
    const isSame = after !== undefined && versionOf(after) !== '' && versionOf(after) === versionOf(assumed ?? {});
    if (!isSame) this.#assumed.delete(key);
  }
}
