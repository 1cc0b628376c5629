export { ApiError, type ApiErrorOptions, classifyApiError, type ErrorClass } from './api/api-error.ts';
export { ApiServerPodSource, type ApiServerPodSourceOptions } from './api/api-server-pod-source.ts';
export { KubePodClient, type KubePodClientOptions } from './api/kube-pod-client.ts';
export { type KubeRequest, type KubeStream, KubeTransport, type KubeTransportOptions } from './api/kube-transport.ts';
export type { DeletePodOptions, PatchType, PodClient, PodMetadata, PodStatusPatch, RequestOptions } from './api/pod-client.ts';
export type { PodSink, PodSourceHandlers } from './api/pod-delivery.ts';
export {
  applyPodStatusPatch,
  type CreatedPodStatusPatch,
  type CreatePodStatusPatchOptions,
  createPodStatusPatch,
  type JsonPodStatusPatch,
  type PatchFormat,
  type StrategicPodStatusPatch,
} from './api/pod-status-patch.ts';
export type { Loose, Pod, PodStatus, Wire, WireContainerStatus, WirePod, WirePodCondition, WirePodStatus } from './api/wire.ts';
export { type CancelTimer, type Clock, systemClock, type TimerOptions } from './concurrency/clock.ts';
export type { RateLimiterOptions } from './concurrency/rate-limiter.ts';
export type { RunStateName } from './concurrency/run-state.ts';
export { type ErrorCode, errorCodes, isStatusManagerError, StatusManagerError } from './errors.ts';
export type { Logger } from './logger.ts';
export type { Labels, MetricsSink } from './metrics.ts';
export { BasicPodManager, type PodAndMirrorPod, type PodsAndMirrorPods } from './pod/basic-pod-manager.ts';
export {
  type CgroupsProbe,
  DefaultPodDeletionSafety,
  type DefaultPodDeletionSafetyOptions,
  type RuntimeCacheProbe,
  type VolumesProbe,
} from './pod/default-pod-deletion-safety.ts';
export type { PodDeletionSafety } from './pod/pod-deletion-safety.ts';
export {
  buildPodFullName,
  isMirrorPod,
  isMirrorPodOf,
  isStaticPod,
  type PodFullName,
  parsePodFullName,
} from './pod/pod-identity.ts';
export type { PodManager, UIDTranslations } from './pod/pod-manager.ts';
export type { RuntimeContainer, RuntimeContainerState, RuntimeSandbox } from './pod/runtime-pod.ts';
export { carryOverContainerStatuses } from './status/carry-over.ts';
export type { PodExplanation, PodSyncPhase } from './status/explain.ts';
export {
  generateContainersReadyCondition,
  generatePodInitializedCondition,
  generatePodReadyCondition,
  generatePodScheduledCondition,
} from './status/generate-conditions.ts';
export {
  generateAllContainersRestartingCondition,
  generatePodReadyToStartContainersCondition,
} from './status/generate-runtime-conditions.ts';
export { needToReconcilePodReadiness } from './status/need-to-reconcile-pod-readiness.ts';
export type { PodResizeInProgress } from './status/pod-resize-conditions.ts';
export type { LastError } from './status/pod-sync-state.ts';
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
export type { FlushResult, HeldPhase } from './status/status-sync.ts';
