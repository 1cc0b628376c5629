import type { Clock } from '../../seams/clock.ts';
import type { Database } from './database.ts';
import type { PatchType } from './object-patches.ts';
import type { WriteOptions } from './object-rules.ts';

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
  /** The object as it was at last, with the resourceVersion of the deletion. */
  readonly object: T;
  /** False while it waits for its grace period or its finalizers. */
  readonly gone: boolean;
}
