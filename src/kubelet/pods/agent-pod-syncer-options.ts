import type { Pod, PodStatus, WireContainerStatus, WirePodStatus } from '../../api/json/types.ts';
import type { SteadyClock } from '../../base/clock.ts';
import type { Logger } from '../../base/logging/logger.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { ProbeManager } from '../../node/probes/probe-manager.ts';
import type { RestartBackoff } from '../../node/workers/restart-backoff.ts';
import type { StatusManager } from '../../status/status-manager.ts';
import type { ContainerConfigs } from '../containers/container-configs.ts';
import type { ImagePuller } from '../images/image-puller.ts';
import type { PullSecret } from '../images/keyring.ts';
import type { PodLifecycle } from '../pleg/pod-lifecycle.ts';
import type { PodResizer } from '../resize/pod-resizer.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';
import type { VolumeManager } from '../volumes/volume-manager.ts';
import type { ClassUpdates } from './class-updates.ts';

/** Gives what the status of a container says of its devices. */
export type ResourceStatuses = (
  podUID: string,
  containerName: string,
) => NonNullable<WireContainerStatus['allocatedResourcesStatus']>;

export type SyncStatusManager = Pick<StatusManager, 'setPodStatus' | 'terminatePod'> & {
  /** The newest status that was set; undefined before the first one. */
  getPodStatus(podUID: string): PodStatus | undefined;
};
export type SyncProbeManager = Pick<
  ProbeManager,
  'addPod' | 'stopLivenessAndStartup' | 'removePod' | 'result' | 'containerState'
>;
export type SyncVolumeManager = Pick<VolumeManager, 'mountVolumes'> & {
  /** Takes away what is there of the pod's volumes. */
  unmountVolumes(podUID: string): Promise<unknown>;
};
/** What makes the cgroups of pods, and keeps those of their classes in step. */
export interface SyncCgroups {
  /** Gives the groups of all pods of a class what their pods ask for now. */
  updateClasses(): ReturnType<ClassUpdates['update']>;
  ensurePod(pod: Pod): Promise<unknown>;
  removePod(pod: Pod): Promise<unknown>;
}

/** What gives pods the devices of their resource claims. */
export interface SyncClaims {
  /** Resolves once the claims of a pod are ready whose sandbox is about to be made. */
  prepare(pod: Pod, signal: AbortSignal): Promise<void>;
  /** Resolves once nothing is held for the pod alone. Its containers have ended. */
  unprepare(pod: Pod, signal: AbortSignal): Promise<void>;
  /** The status with how the devices of its containers are. */
  withHealth(pod: Pod, status: WirePodStatus): WirePodStatus;
}

/** What an agent's pods are made with. */
export interface AgentPodSyncerOptions {
  readonly runtime: ContainerRuntime;
  readonly lifecycle: Pick<PodLifecycle, 'refresh' | 'expectRead'>;
  readonly statusManager: SyncStatusManager;
  readonly probes: SyncProbeManager;
  readonly images: Pick<ImagePuller, 'ensureImage'>;
  readonly volumes: SyncVolumeManager;
  readonly cgroups: SyncCgroups;
  /** Undefined: no pod has claims. */
  readonly claims: SyncClaims | undefined;
  readonly configs: Pick<ContainerConfigs, 'sandboxConfig' | 'containerConfig' | 'containerHash'>;
  readonly restartBackoff: Pick<RestartBackoff, 'tryRestart'>;
  /** The secrets for pulling the pod's images; those that are not there are left out. */
  readonly pullSecretsOf: (pod: Pod, signal: AbortSignal) => Promise<readonly PullSecret[]>;
  /** The runtime handler that the pod's RuntimeClass names; empty: the default one. */
  readonly runtimeHandlerOf: (pod: Pod, signal: AbortSignal) => Promise<string>;
  /** Whether the runtime has a network for pods. */
  readonly networkReady: () => { readonly ready: boolean; readonly message?: string | undefined };
  /** The node's addresses as pods show them: one, or one of each family. */
  readonly hostIPs: () => readonly string[];
  /** The node's addresses, of which the first decides which family comes first. */
  readonly nodeIPs: () => readonly string[];
  readonly resizeConditions: (podUID: string) => PodStatus['conditions'] | undefined;
  /**
   * The highest number of a log file in the folder of one container's logs, for containers that the runtime has forgotten; -1 where
   * there is none.
   */
  readonly lastLogNumber: (folder: string) => Promise<number>;
  /** Changes the resources of running containers. */
  readonly resizer: Pick<PodResizer, 'needsRestart' | 'resize' | 'containerMade' | 'report'> | undefined;
  /** How the devices of a container are, by resource; absent: no container has any. */
  readonly resourceStatuses?: ResourceStatuses | undefined;
  /** Called when a pod is to be synced again, as when its active deadline has passed. */
  readonly requestSync: (podUID: string) => void;
  /** The pod is about to be started: told before its volumes are made. */
  readonly onPodStarting: (pod: Pod) => void;
  /** Nothing is left of the pod: told, and waited for, before the status manager is. Until then it does not come back. */
  readonly onPodEnded: (pod: Pod) => Promise<void>;
  readonly eventRecorder: EventRecorder;
  readonly clock: SteadyClock;
  readonly logger: Logger;
}
