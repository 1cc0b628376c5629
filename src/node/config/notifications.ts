// Behaviour of pkg/kubelet/config/config.go (Merge): v1.36.3 for Incremental, v1.28 for the modes that v1.36 has no more.

import type { Pod } from '../../api/json/types.ts';
import type { Merge } from './pod-storage.ts';
import type { PodOperation, PodUpdate } from './pod-update.ts';

/**
 * `Incremental`: each change as its own operation. `SnapshotAndUpdates`: after a list that added or removed pods, and after
 * a source's first list, a SET of the pods of all sources; then UPDATE and DELETE for the pods that changed. `Snapshot`: a
 * SET of the pods of all sources after each list that changed anything but statuses, and after a source's first list. Only
 * `Incremental` tells of changes of a status alone.
 */
export type ConfigMode = 'Incremental' | 'SnapshotAndUpdates' | 'Snapshot';

/** The most updates that one list can lead to. */
export const mostUpdatesOfAList = 5;

/** What to tell after a merge, in order. */
export function updatesAfter(mode: ConfigMode, source: string, merge: Merge, allPods: () => readonly Pod[]): PodUpdate[] {
  const update = (op: PodOperation, pods: readonly Pod[]): PodUpdate[] => (pods.length > 0 ? [{ op, source, pods }] : []);
  const { isFirst, removed, added, updated, deleted, reconciled } = merge;
  const set = (): PodUpdate => ({ op: 'SET', source, pods: allPods() });
  const cameOrWent = isFirst || removed.length + added.length > 0;
  switch (mode) {
    case 'Incremental': {
      const told = [...update('REMOVE', removed), ...update('ADD', added), ...update('UPDATE', updated)];
      told.push(...update('DELETE', deleted));
      // of a first list no pod was known before, so there is no other change
      if (isFirst && added.length === 0) told.push({ op: 'ADD', source, pods: [] });
      return [...told, ...update('RECONCILE', reconciled)];
    }
    case 'SnapshotAndUpdates':
      return [...(cameOrWent ? [set()] : []), ...update('UPDATE', updated), ...update('DELETE', deleted)];
    case 'Snapshot':
      return cameOrWent || updated.length + deleted.length > 0 ? [set()] : [];
  }
}
