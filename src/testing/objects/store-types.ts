import type { JsonObject } from '../../api/json/types.ts';
import type { PatchSchema } from '../../api/patch/patch-schemas.ts';
import type { Clock } from '../../base/clock.ts';
import type { ApiObject, ApiResource } from '../../client/resources/api-resource.ts';
import type { StatusCause } from './api-status.ts';
import type { DeleteRequest, DeletionOutcome } from './deletion.ts';
import type { Database, ObjectEvent, ObjectEventListener } from './object-history.ts';
import type { ObjectPatchType } from './object-patches.ts';
import type { SelectableFields, Selection } from './selectors.ts';

export interface ResourceStoreOptions extends Partial<StoreWriteOptions> {
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** At least so many of the last events can be replayed. Default 1000. */
  readonly historySize?: number;
  /** Default: one of its own. */
  readonly database?: Database;
}

/** Names one object of a resource. */
export interface ObjectKey {
  /** Default `default` for a resource of namespaces; without meaning for one of the cluster. */
  readonly namespace?: string | undefined;
  /** The name of the object. */
  readonly name: string;
}

/** What a PATCH asks for. */
export interface ObjectPatch {
  /** The format of the body. */
  readonly type: ObjectPatchType;
  /** An object, or the operations of a JSON Patch. */
  readonly body: unknown;
  /** Undefined: the object itself. */
  readonly subresource?: 'status' | undefined;
}

/** What a DELETE has done. */
export interface DeletedObject<T> {
  /** The object as it was at last, with the resourceVersion of the deletion. */
  readonly object: T;
  /** False while it waits for its grace period or its finalizers. */
  readonly gone: boolean;
}

/**
 * The objects of one resource of an apiserver, in memory: JSON in, frozen JSON out. Every operation is synchronous and
 * either takes effect as a whole or throws a `StoreError` with the Status object a kube-apiserver answers.
 */
export interface ResourceObjects<T extends ApiObject = ApiObject> {
  /** The resource whose objects these are. */
  readonly resource: ApiResource<T>;
  /** The resourceVersion of the newest change of any object of the server. */
  readonly resourceVersion: string;
  /** POST. The server sets uid and times, and what else is the server's to say. */
  create(object: object): T;
  /** GET. */
  get(key: ObjectKey): T;
  /** True when there is such an object. */
  has(key: ObjectKey): boolean;
  /**
   * LIST, in order of namespace and name; with a resourceVersion as the objects were then. Throws 410 Expired when some
   * of the changes since then are forgotten.
   */
  list(selection?: Selection, resourceVersion?: string): readonly T[];
  /** PUT of the object: the stored status stays where the resource has a status subresource. */
  update(object: object): T;
  /** PUT of the status subresource: the stored spec stays. */
  updateStatus(object: object): T;
  /** PATCH of the object or of its status subresource. One that changes nothing keeps the resourceVersion and makes no event. */
  patch(key: ObjectKey, patch: ObjectPatch): T;
  /** DELETE, with the rules for preconditions, grace periods and finalizers. */
  delete(key: ObjectKey, request?: DeleteRequest): DeletedObject<T>;
  /** A write that bypasses the API: stores the object as given and checks nothing. It replaces a stored object of another uid. */
  put(object: object): T;
  /** Removes the object at once, even with finalizers. Returns false when there is none. */
  remove(key: ObjectKey): boolean;
  /**
   * Calls the listener with every change from now on, in order, before the changing method returns. A change that a
   * listener makes is told once every listener knows the one before. An error of a listener becomes a warning of the
   * process (`process.emitWarning`). Returns a function that ends the watch. `onCut` is called once when a restore of the
   * server ends the watch; no more changes follow.
   */
  watch(listener: ObjectEventListener<T>, onCut?: () => void): () => void;
  /** The changes after `resourceVersion`. Throws 410 Expired when some of them are forgotten. */
  eventsSince(resourceVersion: string): readonly ObjectEvent<T>[];
  /** Forgets the history of this resource: only a watch from the newest resourceVersion can still be answered. */
  compact(): void;
}

export interface StoreWriteOptions {
  /** Refuse what a kube-apiserver refuses. Without it only uid and resourceVersion are checked. */
  readonly validate: boolean;
  /** Fill in defaults and bring objects into the server's form. Without it an object is stored as it was given. */
  readonly fillIns: boolean;
}

/** An update as it would be stored. */
export interface ObjectUpdate {
  readonly object: JsonObject;
  /** The rules that the update breaks; empty when the server accepts it. */
  readonly causes: readonly StatusCause[];
}

export type UpdateObject = (given: JsonObject, old: JsonObject, options: StoreWriteOptions) => ObjectUpdate;

/** What a server does with the objects of one resource that it does not do with all objects. */
export interface ObjectRules {
  readonly fields: SelectableFields;
  /** Undefined: the resource has no strategic merge patch. */
  readonly patchSchema: PatchSchema | undefined;
  /** What an object without any contents has beside its metadata; bookmarks show it. */
  readonly blank: JsonObject;
  /** True for a custom resource: its objects name their kind, also in lists. */
  readonly isCustom?: boolean;
  /** True: a PUT of an object that is not there creates it. */
  readonly createsOnUpdate?: boolean;
  /** True: a PUT needs a resourceVersion. */
  readonly updatesNeedVersion?: boolean;
  /** True: the answer to a DELETE is the object even when it is gone. */
  readonly returnsDeleted?: boolean;
  /** A new object, whose metadata is complete, in the server's form. Throws a `ShapeError` for a member of the wrong type. */
  readonly fillIn: (object: JsonObject) => JsonObject;
  /** The rules that a new object breaks; empty when it breaks none. */
  readonly validateCreate: (object: JsonObject) => StatusCause[];
  readonly update: UpdateObject;
  /** Undefined: the resource has no status subresource. */
  readonly updateStatus?: UpdateObject | undefined;
  /** Decides the effect of a DELETE and changes nothing. */
  readonly decideDeletion: (object: JsonObject, request: DeleteRequest, nowMs: number) => DeletionOutcome;
}
