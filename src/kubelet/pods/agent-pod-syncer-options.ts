import type { Pod, PodStatus } from '../../api/json/types.ts';
import { type Clock, type SteadyClock, safeClock, systemClock } from '../../base/clock.ts';
import { type Logger, loggerOption } from '../../base/logging/logger.ts';
import { type EventRecorder, noEvents, safeEventRecorder } from '../../client/events/event-recorder.ts';
import type { ProbeManager } from '../../node/probes/probe-manager.ts';
import type { RestartBackoff } from '../../node/workers/restart-backoff.ts';
import type { StatusManager } from '../../status/status-manager.ts';
import type { ContainerConfigs } from '../containers/container-configs.ts';
import type { ImagePuller } from '../images/image-puller.ts';
import type { PullSecret } from '../images/keyring.ts';
import { lastLogNumber } from '../logs/pod-logs.ts';
import type { PodLifecycle } from '../pleg/pod-lifecycle.ts';
import type { SyncPodResizer } from '../resize/sync-pod-resizer.ts';
import type { ContainerRuntime } from '../runtime/container-runtime.ts';
import type { VolumeManager } from '../volumes/volume-manager.ts';
import type { ClassUpdates } from './class-updates.ts';

/** What keeps the statuses of pods. */
export type SyncStatusManager = Pick<StatusManager, 'setPodStatus' | 'terminatePod'> & {
  /** The newest status that was set; undefined before the first one. */
  getPodStatus(podUID: string): PodStatus | undefined;
};
/** What probes the containers of pods. */
export type SyncProbeManager = Pick<
  ProbeManager,
  'addPod' | 'stopLivenessAndStartup' | 'removePod' | 'result' | 'containerState'
>;
/** What makes the volumes of pods. */
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

/** What an agent's pods are made with. All up to `restartBackoff` are needed. */
export interface AgentPodSyncerOptions {
  /** Runs the containers. */
  readonly runtime: ContainerRuntime;
  /** Knows what the runtime has. */
  readonly lifecycle: Pick<PodLifecycle, 'refresh'>;
  /** Gets the statuses. */
  readonly statusManager: SyncStatusManager;
  /** Probes the containers. */
  readonly probes: SyncProbeManager;
  /** Pulls images. */
  readonly images: Pick<ImagePuller, 'ensureImage'>;
  /** Makes volumes. */
  readonly volumes: SyncVolumeManager;
  /** Makes the cgroups of pods. */
  readonly cgroups: SyncCgroups;
  /** Makes the configurations of sandboxes and containers. */
  readonly configs: Pick<ContainerConfigs, 'sandboxConfig' | 'containerConfig' | 'containerHash'>;
  /** How long containers wait that are restarted again and again. */
  readonly restartBackoff: Pick<RestartBackoff, 'tryRestart'>;
  /** The secrets for pulling the pod's images; those that are not there are left out. Default: none. */
  readonly pullSecretsOf?: (pod: Pod, signal: AbortSignal) => Promise<readonly PullSecret[]>;
  /** The runtime handler that the pod's RuntimeClass names; empty: the default one. Default: the default one for every pod. */
  readonly runtimeHandlerOf?: (pod: Pod, signal: AbortSignal) => Promise<string>;
  /** Whether the runtime has a network for pods. Default: it has. */
  readonly networkReady?: () => { readonly ready: boolean; readonly message?: string | undefined };
  /** The node's addresses as pods show them: one, or one of each family. Default: none. */
  readonly hostIPs?: () => readonly string[];
  /** The node's addresses, of which the first decides which family comes first. Default: `hostIPs`. */
  readonly nodeIPs?: () => readonly string[];
  /** The pod's resize conditions. Default: none. */
  readonly resizeConditions?: (podUID: string) => PodStatus['conditions'] | undefined;
  /**
   * The highest number of a log file in the folder of one container's logs, for containers that the runtime has forgotten; -1 where
   * there is none. Default: the folder is read.
   */
  readonly lastLogNumber?: (folder: string) => Promise<number>;
  /** Changes the resources of running containers. Default: nobody does. */
  readonly resizer?: Pick<SyncPodResizer, 'needsRestart' | 'resize' | 'containerMade' | 'report'> | undefined;
  /** Called when a pod is to be synced again, as when its active deadline has passed: a sync loop's `podChanged`. Default: nobody. */
  readonly requestSync?: (podUID: string) => void;
  /** The pod is about to be started: told before its volumes are made, such as to register what it refers to. */
  readonly onPodStarting?: (pod: Pod) => void;
  /** Nothing is left of the pod: told before the status manager, such as to let go of what it refers to and of its tokens. */
  readonly onPodEnded?: (pod: Pod) => void;
  /** Gets the pods' events. Default: nobody. */
  readonly eventRecorder?: EventRecorder;
  /** Where the time comes from. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default: warnings and errors go to the console; null: silent. */
  readonly logger?: Logger | null;
}

export type ResolvedAgentPodSyncerOptions = Required<Omit<AgentPodSyncerOptions, 'clock' | 'logger' | 'resizer'>> & {
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly resizer: Pick<SyncPodResizer, 'needsRestart' | 'resize' | 'containerMade' | 'report'> | undefined;
};

/** The options with their defaults. */
export function resolveAgentPodSyncerOptions(options: AgentPodSyncerOptions): ResolvedAgentPodSyncerOptions {
  const { resizer, eventRecorder = noEvents, clock = systemClock, hostIPs = () => [], logger } = options;
  return {
    ...options,
    pullSecretsOf: options.pullSecretsOf ?? (async () => []),
    runtimeHandlerOf: options.runtimeHandlerOf ?? (async () => ''),
    networkReady: options.networkReady ?? (() => ({ ready: true })),
    hostIPs,
    nodeIPs: options.nodeIPs ?? hostIPs,
    resizeConditions: options.resizeConditions ?? (() => undefined),
    resizer,
    requestSync: options.requestSync ?? (() => {}),
    onPodStarting: options.onPodStarting ?? (() => {}),
    onPodEnded: options.onPodEnded ?? (() => {}),
    lastLogNumber: options.lastLogNumber ?? lastLogNumber,
    eventRecorder: safeEventRecorder(eventRecorder),
    clock: safeClock(clock),
    logger: loggerOption(logger),
  };
}
