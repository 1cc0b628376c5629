export { ApiError, type ApiErrorOptions, classifyApiError, type ErrorClass } from './api/api-error.ts';
export { ApiServerPodSource, type ApiServerPodSourceOptions } from './api/api-server-pod-source.ts';
export { KubePodClient, type KubePodClientOptions } from './api/kube-pod-client.ts';
export type { DeletePodOptions, PatchType, PodClient, PodMetadata, PodStatusPatch, RequestOptions } from './api/pod-client.ts';
export { applyPodStatusPatch, type CreatePodStatusPatchOptions, createPodStatusPatch } from './api/pod-status-patch.ts';
export type { Loose, Pod, PodStatus, Wire, WirePod, WirePodCondition, WirePodStatus } from './api/wire.ts';
export { type CancelTimer, type Clock, systemClock, type TimerOptions } from './concurrency/clock.ts';
export type { RateLimiterOptions } from './concurrency/rate-limiter.ts';
export type { RunStateName } from './concurrency/run-state.ts';
export { type ErrorCode, errorCodes, isStatusManagerError, StatusManagerError } from './errors.ts';
export type { Logger } from './logger.ts';
export type { Labels, MetricsSink } from './metrics.ts';
export { BasicPodManager } from './pod/basic-pod-manager.ts';
export type { PodDeletionSafety } from './pod/pod-deletion-safety.ts';
export { isMirrorPod, isMirrorPodOf, isStaticPod } from './pod/pod-identity.ts';
export type { PodManager, UIDTranslations } from './pod/pod-manager.ts';
export type { PodExplanation, PodSyncPhase } from './status/explain.ts';
export {
  generateContainersReadyCondition,
  generatePodInitializedCondition,
  generatePodReadyCondition,
} from './status/generate-conditions.ts';
export { StatusManager } from './status/status-manager.ts';
export type {
  IllegalTransitionEvent,
  PodRemovedEvent,
  PodUpdatedEvent,
  StatusManagerEvents,
  SyncErrorEvent,
  SyncedEvent,
} from './status/status-manager-events.ts';
export type { StatusManagerOptions } from './status/status-manager-options.ts';
export type { FlushResult } from './status/status-sync.ts';
