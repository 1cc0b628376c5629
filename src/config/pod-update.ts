import type { Pod } from '../wire/types.ts';

/**
 * What changed. `ADD`: pods not known before. `UPDATE`: their spec, labels or annotations changed. `DELETE`: they carry a
 * deletionTimestamp. `REMOVE`: the source has them no more. `RECONCILE`: only their status changed. `SET`: all pods of the source,
 * in mode `Snapshot` and, for a list that added or removed, `SnapshotAndUpdates`.
 */
export type PodOperation = 'SET' | 'ADD' | 'UPDATE' | 'DELETE' | 'REMOVE' | 'RECONCILE';

/** Pods of one source to which one operation applies. An ADD without pods says that the source has been heard from. */
export interface PodUpdate {
  readonly op: PodOperation;
  readonly source: string;
  readonly pods: readonly Pod[];
}
