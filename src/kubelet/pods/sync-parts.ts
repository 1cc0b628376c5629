import type { Pod, PodStatus, WirePodStatus } from '../../api/json/types.ts';
import type { Container } from '../../api/pod/pod-containers.ts';
import type { ContainerProbeStates } from '../../node/pod-status/container-statuses.ts';
import type { ProbeResult, ProbeType } from '../../node/probes/probe-types.ts';
import type { ContainerEntry, EphemeralContainer } from '../actions/pod-actions.ts';
import type { PullSecret } from '../images/keyring.ts';
import type { AgentPodStatus } from '../pleg/agent-status.ts';
import type { ContainerConfig } from '../runtime/runtime-containers.ts';
import type { RuntimeImage } from '../runtime/runtime-images.ts';
import type { PodSandboxConfig } from '../runtime/runtime-sandboxes.ts';
import type { PodVolumes } from '../volumes/pod-folder.ts';

/** What the syncer needs of a `StatusManager`. */
export interface SyncStatusManager {
  /** The newest status that was set; undefined before the first one. */
  getPodStatus(podUID: string): PodStatus | undefined;
  /** Takes the agent's newest view of a pod. */
  setPodStatus(pod: Pod, status: PodStatus): boolean;
  /** The pod runs no more, and nothing of it is left to clean up. */
  terminatePod(pod: Pod): boolean;
}

/** What the syncer needs of a `PodLifecycle`. */
export interface SyncLifecycle {
  /** Asks the runtime now, and resolves with what it has of the pod. */
  refresh(podUID: string, signal: AbortSignal): Promise<AgentPodStatus>;
}

/** What the syncer needs of a `ProbeManager`. */
export interface SyncProbes extends ContainerProbeStates {
  /** Begins to probe the pod's containers. */
  addPod(pod: Pod): void;
  /** The pod ends: only its readiness is probed on. */
  stopLivenessAndStartup(pod: Pod): void;
  /** Ends all probes of the pod. */
  removePod(pod: Pod): void;
  /** The last result of a container's probe; undefined before the first one. */
  result(type: ProbeType, containerID: string): ProbeResult | undefined;
}

/** What the syncer needs of a `VolumeManager`. */
export interface SyncVolumes {
  /** Makes the volumes of the pod, or brings them up to date; rejects with what an event `FailedMount` is to say. */
  mountVolumes(pod: Pod, signal: AbortSignal): Promise<PodVolumes>;
  /** Takes away what is there of the pod's volumes. */
  unmountVolumes(podUID: string): Promise<unknown>;
}

/** What the syncer needs of the cgroups. */
export interface SyncCgroups {
  /** Gives the groups of all pods of a class what their pods ask for now. */
  updateClasses(): Promise<unknown>;
  /** Makes the pod's cgroup where it is not there, and sets its limits. */
  ensurePod(pod: Pod, signal: AbortSignal): Promise<unknown>;
  /** Takes the pod's cgroup away, with what is below it. */
  removePod(pod: Pod): Promise<unknown>;
}

/** What is to become of one sandbox. */
export interface SandboxConfigRequest {
  readonly pod: Pod;
  /** How many sandboxes the pod had before. */
  readonly attempt: number;
  /** The runtime handler; empty: the default one. */
  readonly runtimeHandler: string;
}

/** What is to become of one container. */
export interface ContainerConfigRequest {
  readonly pod: Pod;
  readonly container: Container | EphemeralContainer;
  /** How often the container had been made before. */
  readonly attempt: number;
  readonly image: RuntimeImage;
  /** The reference that pulling the image gave. */
  readonly imageRef: string;
  readonly runtimeHandler: string;
  readonly volumes: PodVolumes;
  /** The pod's addresses, the primary one first; those of the node for a pod in its network. */
  readonly podIPs: readonly string[];
  readonly sandbox: PodSandboxConfig;
  /** Settles once the configuration is held no more. */
  readonly held: Promise<unknown>;
  /** Of an ephemeral container: the container whose processes it sees, by the runtime's id. */
  readonly targetContainerID: string | undefined;
}

/**
 * Makes the configurations that the runtime gets. An error may have a string `reason`: the container then waits with it, else with
 * `CreateContainerConfigError`.
 */
export interface SyncConfigs {
  /** What a sandbox is made from. */
  sandboxConfig(request: SandboxConfigRequest, signal: AbortSignal): Promise<PodSandboxConfig>;
  /** What a container is made from. */
  containerConfig(request: ContainerConfigRequest, signal: AbortSignal): Promise<ContainerConfig>;
  /** What changes when a container of the spec changes so that it must be made again: its label's value. */
  containerHash(container: Container): string;
}

/** What is to be pulled, and for whom. */
export interface EnsureImageRequest {
  readonly pod: Pod;
  readonly container: Pick<Container, 'name' | 'image' | 'imagePullPolicy'>;
  readonly pullSecrets: readonly PullSecret[];
  readonly sandbox: PodSandboxConfig | undefined;
  readonly runtimeHandler: string;
}

/** What the syncer needs of an `ImagePuller`. */
export interface SyncImages {
  /** Rejects with an error that has `reason`, `message` and, where it waits, `until`. */
  ensureImage(
    request: EnsureImageRequest,
    signal: AbortSignal,
  ): Promise<{ readonly imageRef: string; readonly image: RuntimeImage }>;
}

/** Changes the resources of running containers. */
export interface SyncResizer {
  /** True where the container must be made again to get its new resources. */
  needsRestart(pod: Pod, container: Container, entry: ContainerEntry): boolean;
  /** Gives running containers of the pod their new resources. Resolves with true where something was changed. */
  resize(pod: Pod, status: AgentPodStatus, signal: AbortSignal): Promise<boolean>;
  /** Told of each container that was made, with the pod that it was made for. */
  containerMade(pod: Pod, containerName: string): void;
  /** The status with the resources that running containers have. */
  report(pod: Pod, status: WirePodStatus, runtimeStatus: AgentPodStatus): WirePodStatus;
}
