import type { JsonObject } from '../../api/json/types.ts';
import type { PatchSchema } from '../../api/patch/patch-schemas.ts';
import type { StatusCause } from './api-status.ts';
import type { DeleteRequest, DeletionOutcome } from './deletion.ts';
import type { SelectableFields } from './selectors.ts';

export interface WriteOptions {
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

export type UpdateObject = (given: JsonObject, old: JsonObject, options: WriteOptions) => ObjectUpdate;

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
