export { BackoffError } from './backoff/backoff-error.ts';
export type { ContainerToStart } from './backoff/container-key.ts';
export { type RestartAnswer, RestartBackoff, type RestartBackoffOptions } from './backoff/restart-backoff.ts';
export type { ConfigMode } from './config/notifications.ts';
export type { MetadataOf } from './config/pod-changes.ts';
export { PodConfig } from './config/pod-config.ts';
export type { PodConfigOptions } from './config/pod-config-options.ts';
export type { PodOperation, PodUpdate } from './config/pod-update.ts';
export type { RunningPod, RuntimeContainerStatus, RuntimePodStatus } from './pod/runtime-pod.ts';
export type { EventRecorder, EventType } from './seams/event-recorder.ts';
export { ApiServerSource, type ApiServerSourceOptions } from './sources/api-server-source.ts';
export type { PodSource, SendPods } from './sources/pod-source.ts';
export type { KillNowOptions } from './workers/kill-pod-now.ts';
export type { PodWorkerState } from './workers/pod-record.ts';
export type { KnownPod } from './workers/pod-records.ts';
export type {
  PodStatusFn,
  PodSyncer,
  RuntimeStatusCache,
  SyncPodRequest,
  SyncPodResult,
  SyncPodType,
  SyncTerminatedPodRequest,
  SyncTerminatingPodRequest,
} from './workers/pod-syncer.ts';
export { PodWorkers, type StoppedWorkers, type StopWorkersOptions } from './workers/pod-workers.ts';
export type { KillPodOptions, UpdatePodOptions, UpdateType } from './workers/update-pod-options.ts';
export { type RetryQueue, WorkQueue, type WorkQueueOptions } from './workers/work-queue.ts';
export type { PodWorkersOptions } from './workers/workers-options.ts';
