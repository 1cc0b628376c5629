import type { RuntimePodStatus } from '../../api/pod/runtime-pod.ts';
import type { ContainerDetails } from '../runtime/runtime-containers.ts';
import type { PodSandboxDetails } from '../runtime/runtime-sandboxes.ts';

/** What the container runtime has of one pod, with all that the runtime says of it. */
export interface AgentPodStatus extends RuntimePodStatus {
  /** The same sandboxes as `sandboxes`, in the same order: the newest first. */
  readonly sandboxDetails: readonly PodSandboxDetails[];
  /** The same containers as `containers`, in the same order: the newest first. */
  readonly containerDetails: readonly ContainerDetails[];
}
