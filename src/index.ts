/**
 * The status manager, and what an agent puts beside it: a pod manager, a source of pods, a client, and the rule that says when
 * a pod may be deleted.
 *
 * @module pod-status-manager
 */
import './node-version.ts';

export { classifyApiError, type ErrorClass, type LastError, type RetriedError } from './client/error-class.ts';

export { KubePodClient, type KubePodClientOptions } from './client/kube-pod-client.ts';
export type { DeletePodOptions, PodClient, PodMetadata, RequestOptions } from './client/pod-client.ts';
export type { JsonMembers } from './client/transport/api-answer.ts';
export { ApiError, type ApiErrorOptions } from './client/transport/api-error.ts';
export {
  type KubeRequest,
  type KubeStream,
  KubeTransport,
  type KubeTransportOptions,
} from './client/transport/kube-transport.ts';
export type { EventMap, Listenable } from './concurrency/emitter.ts';
export type { LastFailure } from './concurrency/last-failure.ts';
export type { RateLimiterOptions } from './concurrency/rate-limiter.ts';
export type { RunStateName } from './concurrency/run-state.ts';
export type { StartOptions } from './concurrency/start-wait.ts';
export {
  type ContainerStatuses,
  generateContainersReadyCondition,
  generatePodInitializedCondition,
  generatePodReadyCondition,
  generatePodScheduledCondition,
} from './conditions/generate-conditions.ts';
export { type GenerateConditionsOptions, generateConditions } from './conditions/generate-pod-conditions.ts';
export {
  generateAllContainersRestartingCondition,
  generatePodReadyToStartContainersCondition,
} from './conditions/generate-runtime-conditions.ts';
export { needToReconcilePodReadiness } from './conditions/need-to-reconcile-pod-readiness.ts';
export { type ErrorCode, errorCodes, isStatusManagerError, StatusManagerError } from './errors.ts';
export type { LabelDefinition, MetricDefinition, MetricType } from './metrics/metric-definition.ts';
export { type MetricName, metricDefinitions } from './metrics/metric-definitions.ts';
export type { Labels, MetricsSink } from './metrics/metrics-sink.ts';
export type { Operation } from './patch/json-patch.ts';
export type { PathChange } from './patch/path-changes.ts';
export type { PatchType, PodStatusPatch } from './patch/pod-status-patch.ts';
export {
  applyPodStatusPatch,
  type CreatedPodStatusPatch,
  type CreatePodStatusPatchOptions,
  createPodStatusPatch,
  type JsonPodStatusPatch,
  type PatchFormat,
  type StrategicPodStatusPatch,
} from './patch/pod-status-patch.ts';
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
export type { BasicPodManagerOptions, PodRegistrar } from './pod/pod-registrars.ts';
export type { RuntimeContainer, RuntimeContainerState, RuntimeSandbox } from './pod/runtime-pod.ts';
export { type CancelTimer, type Clock, type SteadyClock, systemClock, type TimerOptions } from './seams/clock.ts';
export type { Logger, LogLevel } from './seams/logger.ts';
export { ApiServerPodSource, type ApiServerPodSourceOptions } from './sources/api-server-pod-source.ts';
export type { PodSink, PodSourceHandlers } from './sources/pod-delivery.ts';
export type {
  IllegalTransitionEvent,
  PodRemovedEvent,
  PodUpdatedEvent,
  RequestEvent,
  StatusManagerEvents,
  SyncErrorEvent,
  SyncedEvent,
} from './status/events/status-manager-events.ts';
export type { PodResizeInProgress } from './status/resize/pod-resize-conditions.ts';
export type { PodResizes } from './status/resize/pod-resizes.ts';
export { carryOverContainerStatuses } from './status/rules/carry-over.ts';
export { StatusManager } from './status/status-manager.ts';
export type { StatusManagerOptions } from './status/status-manager-options.ts';
export type { PodExplanation } from './status/sync/explain.ts';
export type { FlushResult } from './status/sync/flush-waiters.ts';
export type { PodSourceTimes } from './status/sync/pod-source-view.ts';
export type { PodSnapshot, StatusManagerSnapshot } from './status/sync/snapshot.ts';
export type { StopResult } from './status/sync/status-sync.ts';
export { type HeldPhase, type PodSyncPhase, type UnsettledPod, UnsettledPodsError } from './status/sync/sync-phase.ts';
export type {
  Json,
  JsonObject,
  Loose,
  Pod,
  PodStatus,
  Wire,
  WireContainerStatus,
  WirePod,
  WirePodCondition,
  WirePodStatus,
} from './wire/types.ts';
