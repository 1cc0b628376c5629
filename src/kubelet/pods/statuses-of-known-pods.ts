import type { Pod } from '../../api/json/types.ts';
import type { PodManager } from '../../status/pods/pod-manager.ts';
import type { SyncStatusManager } from './sync-parts.ts';

/**
 * The status manager for pods that end. A pod that its source has dropped still has to end on the node, and nobody is to be told of
 * it any more: the apiserver has no such pod, and answers Forbidden to the node that asks for it.
 */
export function statusesOfKnownPods(
  statusManager: SyncStatusManager,
  podManager: Pick<PodManager, 'getPodByUID'>,
): SyncStatusManager {
  const isKnown = ({ metadata }: Pod): boolean => podManager.getPodByUID(metadata?.uid ?? '') !== undefined;
  return {
    getPodStatus: (podUID) => statusManager.getPodStatus(podUID),
    setPodStatus: (pod, status) => isKnown(pod) && statusManager.setPodStatus(pod, status),
    terminatePod: (pod) => isKnown(pod) && statusManager.terminatePod(pod),
  };
}
