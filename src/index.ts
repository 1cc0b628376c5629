/**
 * The status manager, and what an agent puts beside it: a pod manager, a source of pods, a client, and the rule that says when
 * a pod may be deleted.
 *
 * @module pod-status-manager
 */
import './base/node-version.ts';

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
} from './api/json/types.ts';
export type { Operation, PathChange } from './api/patch/json-patch.ts';
export type { PodStatusPatch, PodStatusPatchType } from './api/patch/pod-status-patch.ts';
export {
  applyPodStatusPatch,
  type CreatedPodStatusPatch,
  type CreatePodStatusPatchOptions,
  createPodStatusPatch,
  type JsonPodStatusPatch,
  type PatchFormat,
  type StrategicPodStatusPatch,
} from './api/patch/pod-status-patch.ts';
export {
  buildPodFullName,
  isMirrorPod,
  isMirrorPodOf,
  isStaticPod,
  type PodFullName,
  parsePodFullName,
} from './api/pod/pod-identity.ts';
export type { RuntimeContainer, RuntimeContainerState, RuntimeSandbox } from './api/pod/runtime-pod.ts';
export { type CancelTimer, type Clock, type SteadyClock, systemClock, type TimerOptions } from './base/clock.ts';
export type { EventMap, Listenable } from './base/concurrency/emitter.ts';
export type { RateLimiterOptions } from './base/concurrency/rate-limiter.ts';
export type { LastFailure, RunStateName, StartOptions } from './base/concurrency/run-state.ts';
export { type ErrorCode, errorCodes, isStatusManagerError, StatusManagerError } from './base/errors.ts';
export {
  logFields,
  type SerializedCause,
  type SerializedError,
  type SerializeErrorOptions,
  serializeError,
} from './base/logging/log-fields.ts';
export type { Logger, LogLevel } from './base/logging/logger.ts';
export type { LabelDefinition, MetricDefinition, MetricType } from './base/metrics/metric-definition.ts';
export { type MetricName, metricDefinitions } from './base/metrics/metric-definitions.ts';
export type { Labels, MetricsSink } from './base/metrics/metrics.ts';
export { type PodProblem, type Problem, type ProblemReport, problemText } from './base/problem.ts';
export type { ClientConfig } from './client/kubeconfig/client-config.ts';
export { type LoadClientConfigOptions, loadClientConfig } from './client/kubeconfig/load-client-config.ts';
export { classifyApiError, type ErrorClass, type LastError, type RetriedError } from './client/resources/error-class.ts';
export type { DeletePodOptions, PodClient, PodMetadata, RequestOptions } from './client/resources/kube-pod-client.ts';
export { KubePodClient, type KubePodClientOptions } from './client/resources/kube-pod-client.ts';
export type { JsonMembers } from './client/transport/api-answer.ts';
export { ApiError, type ApiErrorOptions } from './client/transport/api-error.ts';
export { GuardedTransport, type GuardedTransportOptions } from './client/transport/guarded-transport.ts';
export {
  type KubeRequest,
  type KubeStream,
  KubeTransport,
  type KubeTransportOptions,
} from './client/transport/kube-transport.ts';
export type { RequestGuard } from './client/transport/request-guard.ts';
export { ApiServerPodSource, type ApiServerPodSourceOptions } from './node/sources/api-server-pod-source.ts';
export type { PodSink, PodSourceHandlers } from './node/sources/pod-delivery.ts';
export {
  PodStatusAgent,
  type PodStatusAgentExplanation,
  type PodStatusAgentSnapshot,
} from './node/status-agent/pod-status-agent.ts';
export type { PodStatusAgentOptions, StopPodStatusAgentOptions } from './node/status-agent/pod-status-agent-options.ts';
export {
  type ContainerStatuses,
  generateContainersReadyCondition,
  generatePodInitializedCondition,
  generatePodReadyCondition,
  generatePodScheduledCondition,
} from './status/conditions/generate-conditions.ts';
export { type GenerateConditionsOptions, generateConditions } from './status/conditions/generate-pod-conditions.ts';
export {
  generateAllContainersRestartingCondition,
  generatePodReadyToStartContainersCondition,
  needToReconcilePodReadiness,
} from './status/conditions/generate-runtime-conditions.ts';
export type {
  IllegalTransitionEvent,
  PodRemovedEvent,
  PodUpdatedEvent,
  RequestEvent,
  StatusManagerEvents,
  SyncErrorEvent,
  SyncedEvent,
} from './status/events/status-manager-events.ts';
export { BasicPodManager, type PodAndMirrorPod, type PodsAndMirrorPods } from './status/pods/basic-pod-manager.ts';
export type { DeletionSafetyFailure, PodDeletionSafety } from './status/pods/pod-deletion-safety.ts';
export {
  type CgroupsProbe,
  DefaultPodDeletionSafety,
  type DefaultPodDeletionSafetyOptions,
  type RuntimeCacheProbe,
  type VolumesProbe,
} from './status/pods/pod-deletion-safety.ts';
export type { PodManager, UIDTranslations } from './status/pods/pod-manager.ts';
export type { BasicPodManagerOptions, PodRegistrar } from './status/pods/pod-registrars.ts';
export type { PodResizeInProgress, PodResizes } from './status/resize/pod-resizes.ts';
export { carryOverContainerStatuses } from './status/rules/carry-over.ts';
export { StatusManager } from './status/status-manager.ts';
export type { StatusManagerOptions } from './status/status-manager-options.ts';
export type { PodExplanation } from './status/sync/explain.ts';
export type { FlushResult } from './status/sync/flush-waiters.ts';
export type { PodSourceTimes } from './status/sync/pod-source-view.ts';
export type { PodSnapshot, StatusManagerSnapshot } from './status/sync/snapshot.ts';
export type { StopResult } from './status/sync/status-sync.ts';
export { type HeldPhase, type PodSyncPhase, type UnsettledPod, UnsettledPodsError } from './status/sync/sync-phase.ts';
