import { randomUUID } from 'node:crypto';
import { deepFreeze, isEqualJson } from '../../api/json/json.ts';
import { formatTime } from '../../api/json/time.ts';
import type { Json, JsonObject } from '../../api/json/types.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import type { ApiObject, ApiResource } from '../../client/resources/api-resource.ts';
import { givenOrGeneratedName, keyFor, requireName, storedKeyOf, withIdentity } from './api-names.ts';
import {
  alreadyExists,
  badRequest,
  invalidObject,
  invalidPatch,
  notFound,
  qualifiedName,
  type StatusCause,
} from './api-status.ts';
import {
  checkPreconditions,
  checkTarget,
  checkUID,
  checkUnversioned,
  type DeleteRequest,
  isReleased,
  requireVersion,
  withPropagation,
} from './deletion.ts';
import { metadataOf, newMetadata } from './metadata.ts';
import { Database, type ObjectEvent, type ObjectEventListener, ObjectHistory } from './object-history.ts';
import { applyPatch } from './object-patches.ts';
import { jsonCopyOf, objectAt, objectFilter, type Selection, ShapeError, textAt, without } from './selectors.ts';
import type {
  DeletedObject,
  ObjectKey,
  ObjectPatch,
  ObjectRules,
  ResourceObjects,
  ResourceStoreOptions,
  StoreWriteOptions,
} from './store-types.ts';

/** The store behind {@link ResourceObjects}, with what a server needs beside. */
export class ResourceStore<T extends ApiObject = ApiObject> implements ResourceObjects<T> {
  readonly resource: ApiResource<T>;
  readonly #rules: ObjectRules;
  readonly #options: StoreWriteOptions;
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

  get resourceVersion(): string {
    return this.#database.resourceVersion;
  }

  /** What is special of the resource. */
  get rules(): ObjectRules {
    return this.#rules;
  }

  /** What the stores of a server share. */
  get database(): Database {
    return this.#database;
  }

  create(object: object): T {
    return asObject(this.#store(this.#created(object), undefined));
  }

  /** Creates an object that was there from the beginning: it counts as no change, and makes no event. */
  createUnseen(object: object): T {
    const { resourceVersion } = this;
    const created = this.#created(object);
    const stored = deepFreeze({ ...created, metadata: { ...objectAt(created, 'metadata'), resourceVersion } });
    this.#objects.set(storedKeyOf(stored), stored);
    return asObject(stored);
  }

  get(key: ObjectKey): T {
    return asObject(this.#find(key));
  }

  has(key: ObjectKey): boolean {
    return this.#objects.has(this.#keyFor(key));
  }

  list(selection: Selection = {}, resourceVersion = this.resourceVersion): readonly T[] {
    const objects = resourceVersion === this.resourceVersion ? this.#objects : this.#objectsAt(resourceVersion);
    const matches = objectFilter(selection, this.#rules.fields);
    const found = [...objects].filter(([, object]) => matches(object));
    return found.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => asObject(object));
  }

  update(object: object): T {
    return this.#put(object, undefined);
  }

  updateStatus(object: object): T {
    return this.#put(object, 'status');
  }

  patch(key: ObjectKey, { type, body, subresource }: ObjectPatch): T {
    const old = this.#find(key);
    try {
      const patched = applyPatch(old, type, body as Json, this.#rules.patchSchema);
      checkKind(patched, this.resource);
      return this.#write(old, patched, subresource);
    } catch (error) {
      throw error instanceof ShapeError ? invalidPatch(body, error.message) : error;
    }
  }

  /** A write of the server's own: `change` makes the next object from the stored one. */
  change(key: ObjectKey, change: (old: JsonObject) => JsonObject): T {
    const old = this.#find(key);
    return asObject(this.#store(change(old), old));
  }

  delete(key: ObjectKey, request: DeleteRequest = {}): DeletedObject<T> {
    const old = this.#find(key);
    checkPreconditions(old, request, this.resource);
    const asked = withPropagation(old, request.propagationPolicy);
    const { marked = asked, gone } = this.#rules.decideDeletion(asked, request, this.#clock.now());
    const current = marked === old ? old : this.#store(marked, old);
    return { object: asObject(gone ? this.#drop(current) : current), gone };
  }

  put(object: object): T {
    const given = jsonCopyOf(object);
    const metadata = objectAt(given, 'metadata');
    const next = withIdentity(given, this.#namespaceIn(metadata), requireName(givenOrGeneratedName(metadata)));
    const old = this.#objects.get(storedKeyOf(next));
    const isSame = old !== undefined && objectAt(old, 'metadata').uid === objectAt(next, 'metadata').uid;
    if (old !== undefined && !isSame) this.#drop(old);
    return asObject(this.#store(next, isSame ? old : undefined));
  }

  remove(key: ObjectKey): boolean {
    const object = this.#objects.get(this.#keyFor(key));
    if (object !== undefined) this.#drop(object);
    return object !== undefined;
  }

  watch(listener: ObjectEventListener<T>, onCut?: () => void): () => void {
    return this.#history.listen(listener, onCut);
  }

  eventsSince(resourceVersion: string): readonly ObjectEvent<T>[] {
    return this.#history.since(resourceVersion);
  }

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
    const given = jsonCopyOf(object);
    const metadata = decoding(this.resource, () => metadataOf(given, this.resource.kind));
    const [namespace, name] = [this.#namespaceIn(metadata), givenOrGeneratedName(metadata)];
    if (this.#options.validate) checkUnversioned(metadata);
    const created = this.#options.fillIns
      ? decoding(this.resource, () => this.#rules.fillIn(this.#new(given, namespace, name)))
      : withIdentity(given, namespace, name);
    if (this.#options.validate) refuseRequest(name, this.#rules.validateCreate(created), this.resource);
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
    return { ...given, metadata: { ...without(newMetadata(objectAt(given, 'metadata')), 'namespace'), ...identity } };
  }

  #put(object: object, subresource: 'status' | undefined): T {
    const given = jsonCopyOf(object);
    const metadata = objectAt(given, 'metadata');
    const key = { namespace: textAt(metadata, 'namespace'), name: givenOrGeneratedName(metadata) };
    if (this.#rules.updatesNeedVersion === true && this.has(key)) requireVersion(metadata, key.name, this.resource);
    const old = this.#find(key);
    checkUID(metadata, old, this.resource);
    return decoding(this.resource, () => this.#write(old, given, subresource));
  }

  #write(old: JsonObject, given: JsonObject, subresource: 'status' | undefined): T {
    const name = textAt(objectAt(old, 'metadata'), 'name');
    checkTarget(objectAt(given, 'metadata'), objectAt(old, 'metadata'), this.resource);
    const update = subresource === 'status' ? this.#rules.updateStatus : this.#rules.update;
    if (update === undefined) throw notFound(name, this.resource);
    const { object, causes } = update(given, old, this.#options);
    refuseRequest(name, causes, this.resource);
    if (isEqualJson(object, old)) return asObject(old);
    if (!isReleased(old, object)) return asObject(this.#store(object, old));
    // The last finalizer is gone: the update is not stored, but the answer shows it.
    this.#drop(old);
    return asObject(deepFreeze(object));
  }

  /** The objects as they were at a resourceVersion. Throws 410 Expired when the history does not reach back so far. */
  #objectsAt(resourceVersion: string): ReadonlyMap<string, JsonObject> {
    const objects = new Map(this.#objects);
    for (const { object, previous } of this.#history.since(resourceVersion).toReversed()) {
      if (previous === undefined) objects.delete(storedKeyOf(asJson(object)));
      else objects.set(storedKeyOf(asJson(previous)), asJson(previous));
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
    this.#objects.set(storedKeyOf(stored), stored);
    this.#announce(previous === undefined ? 'ADDED' : 'MODIFIED', stored, previous);
    return stored;
  }

  #drop(object: JsonObject): JsonObject {
    const last = this.#versioned(object);
    this.#objects.delete(storedKeyOf(object));
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
    for (const object of objects) this.#objects.set(storedKeyOf(object), object);
    this.#history.cut(Number(this.resourceVersion));
  }
}

/** The store behind the objects. Throws a `TypeError` for objects that are of no store of this module. */
export function storeBehind<T extends ApiObject>(objects: ResourceObjects<T>): ResourceStore<T> {
  if (objects instanceof ResourceStore) return objects;
  throw new TypeError('Expected the objects of a ResourceStore');
}

/** The only place where JSON becomes a typed object. The members are not checked. */
function asObject<T extends ApiObject>(object: JsonObject): T {
  return object as unknown as T;
}

function asJson(object: ApiObject): JsonObject {
  return object as unknown as JsonObject;
}

/** What the server asks of a resource: a store of its objects, or another view of one. */
export interface ServedStore
  extends Pick<
      ResourceStore,
      'resource' | 'rules' | 'resourceVersion' | 'create' | 'get' | 'has' | 'list' | 'update' | 'updateStatus' | 'patch'
    >,
    Pick<ResourceStore, 'delete' | 'remove' | 'watch' | 'eventsSince' | 'compact'> {
  /** A copy that may be changed on trial. */
  trial(): ServedStore;
}

/** Runs what brings a client's object into the server's form. Throws 400 for a member of the wrong type. */
function decoding<R>({ kind, version }: ApiResource, run: () => R): R {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${error.message}`);
  }
}

/** Throws 422 when there are causes. */
export function refuseRequest(name: string, causes: readonly StatusCause[], of: ApiResource): void {
  if (causes.length > 0) throw invalidObject(name, causes, of);
}

/** Throws a `ShapeError` for an object of another kind. */
function checkKind({ kind }: JsonObject, of: ApiResource): void {
  if (kind === undefined || kind === of.kind) return;
  throw new ShapeError(`no kind ${JSON.stringify(kind)} is a ${of.kind}`);
}
