export type { ConfigMode } from './config/notifications.ts';
export type { MetadataOf } from './config/pod-changes.ts';
export { PodConfig } from './config/pod-config.ts';
export type { PodConfigOptions } from './config/pod-config-options.ts';
export type { PodOperation, PodUpdate } from './config/pod-update.ts';
export type { RunningPod, RuntimeContainerStatus, RuntimePodStatus } from './pod/runtime-pod.ts';
export type { EventRecorder, EventType } from './seams/event-recorder.ts';
export { ApiServerSource, type ApiServerSourceOptions } from './sources/api-server-source.ts';
export type { PodSource, SendPods } from './sources/pod-source.ts';
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
