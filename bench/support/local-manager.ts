import { BasicPodManager, type Pod, StatusManager } from '../../src/index.ts';
import { instantClient, nothingToDelete } from './clients.ts';
import { localPod } from './workload.ts';

/** A manager of so many pods whose requests succeed at once. It is not started. */
export function localManager(count: number): { readonly manager: StatusManager; readonly pods: readonly Pod[] } {
  const pods = Array.from({ length: count }, (_, index): Pod => {
    const pod = localPod(index);
    return { ...pod, metadata: { ...pod.metadata, resourceVersion: String(index + 1) }, status: { phase: 'Pending' } };
  });
  const podManager = new BasicPodManager();
  podManager.setPods(pods);
  return { manager: new StatusManager({ podClient: instantClient(), podManager, podDeletionSafety: nothingToDelete }), pods };
}
