import { randomUUID } from 'node:crypto';
import type { ApiObject, ApiResource } from '../../client/api-resource.ts';
import { type Clock, systemClock } from '../../seams/clock.ts';
import { formatTime } from '../../wire/time.ts';
import type { Json, JsonObject } from '../../wire/types.ts';
import { alreadyExists, badRequest, invalidObject, invalidPatch, notFound, qualifiedName } from './api-status.ts';
import { Database } from './database.ts';
import { checkPreconditions, type DeleteRequest, isReleased, withPropagation } from './deletion.ts';
import { copyJson, deepFreeze, equalJson, objectAt, ShapeError, textAt } from './json-fields.ts';
import { newMetadata } from './metadata.ts';
import { type ObjectEvent, type ObjectEventListener, ObjectHistory } from './object-history.ts';
import { keyFor, keyOf, nameOf, requireName, withIdentity } from './object-keys.ts';
import { applyPatch, type PatchType } from './object-patches.ts';
import type { ObjectRules, WriteOptions } from './object-rules.ts';
import { checkTarget, checkUID, checkUnversioned, requireVersion } from './preconditions.ts';
import { objectFilter, type Selection } from './selectors.ts';

export interface ResourceStoreOptions extends Partial<WriteOptions> {
  readonly clock?: Clock;
  /** At least so many of the last events can be replayed. Default 1000. */
  readonly historySize?: number;
  /** Default: one of its own. */
  readonly database?: Database;
}

export interface ObjectKey {
  /** Default `default` for a resource of namespaces; without meaning for one of the cluster. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface ObjectPatch {
  readonly type: PatchType;
  /** An object, or the operations of a JSON Patch. */
  readonly body: unknown;
  readonly subresource?: 'status' | undefined;
}

export interface DeletedObject<T> {
  /** The object in the server's answer. */
  readonly object: T;
  /** False while it waits for its grace period or its finalizers. */
  readonly gone: boolean;
}

/**
 * The objects of one resource of an apiserver, in memory: JSON in, frozen JSON out. Every operation is synchronous and
 * either takes effect as a whole or throws a `StoreError` with the Status object a kube-apiserver answers.
 */
export class ResourceStore<T extends ApiObject = ApiObject> {
  readonly resource: ApiResource<T>;
  readonly #rules: ObjectRules;
  readonly #options: WriteOptions;
  readonly #clock: Clock;
  readonly #database: Database;
  readonly #history: ObjectHistory<T>;
  readonly #objects = new Map<string, JsonObject>();
  #isTrial = false;

  constructor(resource: ApiResource<T>, rules: ObjectRules, options: ResourceStoreOptions = {}) {
    const { validate = true, fillIns = true, clock = systemClock, historySize = 1000, database = new Database() } = options;
    this.resource = resource;
    this.#rules = rules;
    this.#options = { validate, fillIns };
    this.#clock = clock;
    this.#database = database;
    this.#history = new ObjectHistory(historySize);
    database.add({
      key: qualifiedName(resource),
      all: () => [...this.#objects.values()],
      restore: (objects) => this.#restore(objects),
    });
  }

  /** The resourceVersion of the newest change of any object of the server. */
  get resourceVersion(): string {
    return this.#database.resourceVersion;
  }

  get rules(): ObjectRules {
    return this.#rules;
  }

  get database(): Database {
    return this.#database;
  }

  /** POST. The server sets uid and times, and what else is the server's to say. */
  create(object: object): T {
    return asObject(this.#store(this.#created(object), undefined));
  }

  /** Creates an object that was there from the beginning: it counts as no change, and makes no event. */
  createUnseen(object: object): T {
    const { resourceVersion } = this;
    const created = this.#created(object);
    const stored = deepFreeze({ ...created, metadata: { ...objectAt(created, 'metadata'), resourceVersion } });
    this.#objects.set(keyOf(stored), stored);
    return asObject(stored);
  }

  /** GET. */
  get(key: ObjectKey): T {
    return asObject(this.#find(key));
  }

  /** True when there is such an object. */
  has(key: ObjectKey): boolean {
    return this.#objects.has(this.#keyFor(key));
  }

  /**
   * LIST, in order of namespace and name; with a resourceVersion as the objects were then. Throws 410 Expired when some
   * of the changes since then are forgotten.
   */
  list(selection: Selection = {}, resourceVersion = this.resourceVersion): readonly T[] {
    const objects = resourceVersion === this.resourceVersion ? this.#objects : this.#objectsAt(resourceVersion);
    const matches = objectFilter(selection, this.#rules.fields);
    const found = [...objects].filter(([, object]) => matches(object));
    return found.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => asObject(object));
  }

  /** PUT of the object: the stored status stays where the resource has a status subresource. */
  update(object: object): T {
    return this.#put(object, undefined);
  }

  /** PUT of the status subresource: the stored spec stays. */
  updateStatus(object: object): T {
    return this.#put(object, 'status');
  }

  /** PATCH of the object or of its status subresource. One that changes nothing keeps the resourceVersion and makes no event. */
  patch(key: ObjectKey, { type, body, subresource }: ObjectPatch): T {
    const old = this.#find(key);
    try {
      return this.#write(old, applyPatch(old, type, body as Json, this.#rules.patchSchema), subresource);
    } catch (error) {
      throw error instanceof ShapeError ? invalidPatch(body, error.message) : error;
    }
  }

  /** A write of the server's own: `change` makes the next object from the stored one. */
  change(key: ObjectKey, change: (old: JsonObject) => JsonObject): T {
    const old = this.#find(key);
    return asObject(this.#store(change(old), old));
  }

  /** DELETE, with the rules for preconditions, grace periods and finalizers. */
  delete(key: ObjectKey, request: DeleteRequest = {}): DeletedObject<T> {
    const old = this.#find(key);
    checkPreconditions(old, request, this.resource);
    const asked = withPropagation(old, request.propagationPolicy);
    const { marked = asked, gone } = this.#rules.decideDeletion(asked, request, this.#clock.now());
    const current = marked === old ? old : this.#store(marked, old);
    return { object: asObject(gone ? this.#drop(current) : current), gone };
  }

  /** A write that bypasses the API: stores the object as given and checks nothing. It replaces a stored object of another uid. */
  put(object: object): T {
    const given = copyJson(object);
    const metadata = objectAt(given, 'metadata');
    const next = withIdentity(given, this.#namespaceIn(metadata), requireName(nameOf(metadata)));
    const old = this.#objects.get(keyOf(next));
    const isSame = old !== undefined && objectAt(old, 'metadata').uid === objectAt(next, 'metadata').uid;
    if (old !== undefined && !isSame) this.#drop(old);
    return asObject(this.#store(next, isSame ? old : undefined));
  }

  /** Removes the object at once, even with finalizers. Returns false when there is none. */
  remove(key: ObjectKey): boolean {
    const object = this.#objects.get(this.#keyFor(key));
    if (object !== undefined) this.#drop(object);
    return object !== undefined;
  }

  /**
   * Calls the listener with every change from now on, in order, before the changing method returns. A change that a
   * listener makes is told once every listener knows the one before. An error of a listener becomes a warning of the
   * process (`process.emitWarning`). Returns a function that ends the watch. `onCut` is called once when a restore of the
   * server ends the watch; no more changes follow.
   */
  watch(listener: ObjectEventListener<T>, onCut?: () => void): () => void {
    return this.#history.listen(listener, onCut);
  }

  /** The changes after `resourceVersion`. Throws 410 Expired when some of them are forgotten. */
  eventsSince(resourceVersion: string): readonly ObjectEvent<T>[] {
    return this.#history.since(resourceVersion);
  }

  /** Forgets all history: only a watch from the newest resourceVersion can still be answered. */
  compact(): void {
    this.#history.compact(Number(this.resourceVersion));
  }

  /**
   * A copy of the store for a request with `dryRun=All`: the same answers and refusals, but a write there keeps the
   * resourceVersion, and neither this store nor its listeners notice it.
   */
  trial(): ResourceStore<T> {
    const options = { ...this.#options, clock: this.#clock, database: this.#database.trial() };
    const copy = new ResourceStore<T>(this.resource, this.#rules, options);
    for (const [key, object] of this.#objects) copy.#objects.set(key, object);
    copy.#isTrial = true;
    return copy;
  }

  #created(object: object): JsonObject {
    const given = copyJson(object);
    const metadata = objectAt(given, 'metadata');
    const [namespace, name] = [this.#namespaceIn(metadata), nameOf(metadata)];
    if (this.#options.validate) checkUnversioned(metadata);
    const created = this.#options.fillIns
      ? this.#decoding(() => this.#rules.fillIn(this.#new(given, namespace, name)))
      : withIdentity(given, namespace, name);
    if (this.#options.validate) this.#refuse(name, this.#rules.validateCreate(created));
    else requireName(name);
    if (this.#objects.has(keyFor(namespace, name))) throw alreadyExists(name, this.resource);
    return created;
  }

  #namespaceIn(metadata: JsonObject): string {
    return this.resource.namespaced ? textAt(metadata, 'namespace') || 'default' : '';
  }

  #keyFor({ namespace, name }: ObjectKey): string {
    return keyFor(this.resource.namespaced ? namespace || 'default' : '', name);
  }

  #new(given: JsonObject, namespace: string, name: string): JsonObject {
    const creationTimestamp = formatTime(this.#clock.now());
    const identity = { ...(namespace === '' ? {} : { namespace }), name, uid: randomUUID(), creationTimestamp };
    return { ...given, metadata: { ...newMetadata(objectAt(given, 'metadata')), ...identity } };
  }

  #put(object: object, subresource: 'status' | undefined): T {
    const given = copyJson(object);
    const metadata = objectAt(given, 'metadata');
    const key = { namespace: textAt(metadata, 'namespace'), name: nameOf(metadata) };
    if (this.#rules.updatesNeedVersion === true && this.has(key)) requireVersion(metadata, key.name, this.resource);
    const old = this.#find(key);
    checkUID(metadata, old, this.resource);
    return this.#decoding(() => this.#write(old, given, subresource));
  }

  #write(old: JsonObject, given: JsonObject, subresource: 'status' | undefined): T {
    const name = textAt(objectAt(old, 'metadata'), 'name');
    checkTarget(objectAt(given, 'metadata'), objectAt(old, 'metadata'), this.resource);
    const update = subresource === 'status' ? this.#rules.updateStatus : this.#rules.update;
    if (update === undefined) throw notFound(name, this.resource);
    const { object, causes } = update(given, old, this.#options);
    this.#refuse(name, causes);
    if (equalJson(object, old)) return asObject(old);
    if (!isReleased(old, object)) return asObject(this.#store(object, old));
    // The last finalizer is gone: the update is not stored, but the answer shows it.
    this.#drop(old);
    return asObject(deepFreeze(object));
  }

  /** The objects as they were at a resourceVersion. Throws 410 Expired when the history does not reach back so far. */
  #objectsAt(resourceVersion: string): ReadonlyMap<string, JsonObject> {
    const objects = new Map(this.#objects);
    for (const { object, previous } of this.#history.since(resourceVersion).toReversed()) {
      if (previous === undefined) objects.delete(keyOf(asJson(object)));
      else objects.set(keyOf(asJson(previous)), asJson(previous));
    }
    return objects;
  }

  #find(key: ObjectKey): JsonObject {
    const object = this.#objects.get(this.#keyFor(key));
    if (object === undefined) throw notFound(key.name, this.resource);
    return object;
  }

  #store(object: JsonObject, previous: JsonObject | undefined): JsonObject {
    const stored = this.#versioned(object);
    this.#objects.set(keyOf(stored), stored);
    this.#announce(previous === undefined ? 'ADDED' : 'MODIFIED', stored, previous);
    return stored;
  }

  #drop(object: JsonObject): JsonObject {
    const last = this.#versioned(object);
    this.#objects.delete(keyOf(object));
    this.#announce('DELETED', last, object);
    return last;
  }

  #versioned(object: JsonObject): JsonObject {
    if (this.#isTrial) return deepFreeze(object);
    const resourceVersion = this.#database.nextVersion();
    return deepFreeze({ ...object, metadata: { ...objectAt(object, 'metadata'), resourceVersion } });
  }

  #announce(type: ObjectEvent<T>['type'], object: JsonObject, previous: JsonObject | undefined): void {
    const before = previous === undefined ? undefined : asObject<T>(previous);
    this.#history.add({ type, object: asObject<T>(object), resourceVersion: this.resourceVersion, previous: before });
  }

  #restore(objects: readonly JsonObject[]): void {
    this.#objects.clear();
    for (const object of objects) this.#objects.set(keyOf(object), object);
    this.#history.cut(Number(this.resourceVersion));
  }

  /** Runs what brings a client's object into the server's form. Throws 400 for a member of the wrong type. */
  #decoding<R>(run: () => R): R {
    try {
      return run();
    } catch (error) {
      const { kind, version } = this.resource;
      if (!(error instanceof ShapeError)) throw error;
      throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${error.message}`);
    }
  }

  #refuse(name: string, causes: readonly Parameters<typeof invalidObject>[1][number][]): void {
    if (causes.length > 0) throw invalidObject(name, causes, this.resource);
  }
}

/** The only place where JSON becomes a typed object. The members are not checked. */
function asObject<T extends ApiObject>(object: JsonObject): T {
  return object as unknown as T;
}

function asJson(object: ApiObject): JsonObject {
  return object as unknown as JsonObject;
}
