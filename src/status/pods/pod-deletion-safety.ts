import type { Pod, PodStatus } from '../../api/json/types.ts';

/** What the agent knows about the safety of ending a pod. Both methods get the agent's pod (for a static pod the static one). */
export interface PodDeletionSafety {
  /** While true, no terminal phase is written. */
  podCouldHaveRunningContainers(pod: Pod): boolean;
  /** True when containers have stopped, the runtime cache is empty, and volumes and cgroup are gone. */
  podResourcesAreReclaimed(pod: Pod, status: PodStatus): boolean;
}
