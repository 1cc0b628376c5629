import type { Pod } from '../../api/json/types.ts';

/**
 * What changed. `ADD`: pods not known before. `UPDATE`: their spec, labels or annotations changed. `DELETE`: they carry a
 * deletionTimestamp, and something of them changed. `REMOVE`: the source has them no more. `RECONCILE`: only their status
 * changed. `SET`: the pods of all sources, in mode `Snapshot` and, for a list that added or removed, `SnapshotAndUpdates`.
 */
export type PodOperation = 'SET' | 'ADD' | 'UPDATE' | 'DELETE' | 'REMOVE' | 'RECONCILE';

/** Pods to which one operation applies. An ADD without pods says that the source has been heard from. */
export interface PodUpdate {
  /** What has happened to all of the pods. */
  readonly op: PodOperation;
  /** The source that has sent the list. */
  readonly source: string;
  /** Shared with the config: a receiver must not change them. A pod that changes later is another object. */
  readonly pods: readonly Pod[];
}
