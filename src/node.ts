export type { PodOperation, PodUpdate } from './config/pod-update.ts';
export type { RunningPod, RuntimeContainerStatus, RuntimePodStatus } from './pod/runtime-pod.ts';
export type { Eviction } from './runtime-status/assemble-pod-status.ts';
export type { WaitingReasons } from './runtime-status/container-statuses.ts';
export { type GeneratePodStatusOptions, generatePodStatus } from './runtime-status/generate-pod-status.ts';
export { getPhase, type PodPhase } from './runtime-status/get-phase.ts';
export type { GivenContainer, GivenEnd, GivenTime } from './runtime-status/given-container.ts';
export {
  type PodStatusFromContainersOptions,
  podStatusFromContainers,
} from './runtime-status/pod-status-from-containers.ts';
export type { ContainerProbeStates } from './runtime-status/probe-states.ts';
export type { WaitingReason } from './runtime-status/waiting-reasons.ts';
export type { EventRecorder, EventType } from './seams/event-recorder.ts';
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
