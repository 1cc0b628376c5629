/**
 * The parts of a node agent, each of which can be used alone, and `ProviderNode`, which puts them together. A node of real containers
 * is in `./kubelet`.
 *
 * @module pod-status-manager/node
 */
import './base/node-version.ts';

export type {
  WireContainerImage,
  WireNode,
  WireNodeAddress,
  WireNodeDaemonEndpoints,
  WireNodeFeatures,
  WireNodeRuntimeHandler,
  WireNodeSystemInfo,
  WireTaint,
} from './api/json/types.ts';
export { InvalidManifestError, type ManifestFault } from './api/manifest/invalid-manifest.ts';
export type { ManifestOrigin } from './api/manifest/static-pods.ts';
export { decodeStaticPods } from './api/manifest/static-pods.ts';
export type { ResourceQuantities } from './api/pod/pod-fields.ts';
export type { RunningPod, RuntimeContainerStatus, RuntimePodStatus } from './api/pod/runtime-pod.ts';
export type { Failing } from './base/failure-run.ts';
export { ApiEventRecorder, type ApiEventRecorderOptions } from './client/events/api-event-recorder.ts';
export type { EventRecorder, EventType } from './client/events/event-recorder.ts';
export type {
  CertificateNames,
  CertificateRequestContents,
  CertificateRequestMaker,
} from './node/certificates/certificate-names.ts';
export type { ServingCertificate } from './node/certificates/certificate-source.ts';
export type { ServingCertificateOptions } from './node/certificates/serving-options.ts';
export type { MetadataOf, PodOperation, PodUpdate } from './node/config/pod-changes.ts';
export type { ConfigMode, PodConfigOptions, PodSourceReport } from './node/config/pod-config.ts';
export { PodConfig } from './node/config/pod-config.ts';
export type { LeftOutPod } from './node/config/pod-storage.ts';
export type { ContainerCall, ExecInContainer } from './node/container-provider/container-connections.ts';
export type { ContainerRun, RunContainer } from './node/container-provider/container-life.ts';
export { ContainerProvider, type ContainerProviderOptions } from './node/container-provider/container-provider.ts';
export type { ContainerStatsFn, GivenUsage } from './node/container-provider/container-usage.ts';
export type { ContainerLogsOptions } from './node/container-provider/kept-logs.ts';
export type { KnownServices } from './node/environment/cluster-services.ts';
export type { AdvertisedStatus } from './node/node-object/advertised-status.ts';
export type { NodeIdentity } from './node/node-object/initial-node.ts';
export type { LeaseRival } from './node/node-object/lease-rivals.ts';
export type { NodePressures, NodeReadiness } from './node/node-object/node-conditions.ts';
export type { NodeObjectReport } from './node/node-object/node-object.ts';
export { NodeObject, type StopNodeOptions } from './node/node-object/node-object.ts';
export type { NodeObjectOptions } from './node/node-object/node-object-options.ts';
export type { NodeObjectStopped, RemovalOutcome } from './node/node-object/node-removal.ts';
export type { StepFailure } from './node/node-object/steady-loop.ts';
export type { PodWithoutStatus } from './node/node-problems.ts';
export type { ContainerProbeStates, WaitingReasons } from './node/pod-status/container-statuses.ts';
export type { Eviction } from './node/pod-status/generate-pod-status.ts';
export { type GeneratePodStatusOptions, generatePodStatus } from './node/pod-status/generate-pod-status.ts';
export type { WaitingReason } from './node/pod-status/get-phase.ts';
export { type GetPhaseOptions, getPhase, type PodPhase } from './node/pod-status/get-phase.ts';
export type { GivenContainer, GivenEnd, GivenTime } from './node/pod-status/given-status.ts';
export {
  type PodStatusFromContainersOptions,
  podStatusFromContainers,
} from './node/pod-status/pod-status-from-containers.ts';
export type { ProbedState } from './node/probes/container-state.ts';
export { NetworkProber, type NetworkProberOptions } from './node/probes/network-prober.ts';
export { ProbeManager } from './node/probes/probe-manager.ts';
export type { ProbeHandlers, ProbeManagerOptions, ProbeStatusManager } from './node/probes/probe-manager-options.ts';
export type { ProbeFailure, ProbeResult, ProbeResultUpdate, ProbeType } from './node/probes/probe-types.ts';
export type {
  ExecProbeTarget,
  GrpcProbeTarget,
  HttpProbeTarget,
  ProbeOutcome,
  Prober,
  ProbeSubject,
  TcpProbeTarget,
} from './node/probes/prober.ts';
export type { HeldPod, ToldEvent } from './node/provider/held-pod.ts';
export type { PodMethod } from './node/provider/long-calls.ts';
export { PodHeldError } from './node/provider/pod-held-error.ts';
export type {
  ContainerLog,
  ContainerLogRequest,
  ContainerSpec,
  DeletePodCall,
  NodePod,
  NotifyPods,
  PodAnswer,
  PodProvider,
  ProviderCall,
  ProviderTools,
  ResolvedFile,
  ResolvedFiles,
  ResolvePodOptions,
} from './node/provider/pod-provider.ts';
export { PodRejectedError } from './node/provider/pod-rejected-error.ts';
export { PodResolver, type PodResolverOptions, type Resolution, type ResolveOptions } from './node/provider/pod-resolver.ts';
export type { ProviderCallReport, ProviderFailure } from './node/provider/provided-pod.ts';
export type { ProvidedPods } from './node/provider/provided-pods.ts';
export { ProviderNode } from './node/provider/provider-node.ts';
export type { NodeMembers, ProviderNodeOptions, SharedOption } from './node/provider/provider-node-options.ts';
export type {
  PodCallReport,
  ProviderFailureReport,
  ProviderNodeSnapshot,
  ProviderNodeSnapshotOptions,
  ProviderPodExplanation,
  ProviderPodReport,
  StopProviderNodeOptions,
  StoppedProviderNode,
} from './node/provider/provider-node-reports.ts';
export { ProviderPodSyncer } from './node/provider/provider-pod-syncer.ts';
export type { ProviderPodSyncerOptions } from './node/provider/provider-pod-syncer-options.ts';
export { SharedWatches, type SharedWatchesOptions, type SharedWatchFailure } from './node/provider/shared-watches.ts';
export { KubeletApiRefusal } from './node/server/exchange.ts';
export type { TLSMinVersion } from './node/server/serving-files.ts';
export type { NodeServerOptions } from './node/server/serving-settings.ts';
export type {
  ContainerStatsEntry,
  CPUStats,
  FileSystemStats,
  MemoryStats,
  NodeStats,
  PodStats,
  StatsSummary,
  SwapStats,
  VolumeStats,
} from './node/server/stats-types.ts';
export { ApiServerSource, type ApiServerSourceOptions } from './node/sources/api-server-source.ts';
export { FileSource, type FileSourceOptions } from './node/sources/file-source.ts';
export type { HttpSourceOptions } from './node/sources/http-source.ts';
export { HttpSource } from './node/sources/http-source.ts';
export type { PodBudgetOptions } from './node/sources/pod-budget.ts';
export type { PodSource, SendPods } from './node/sources/pod-source.ts';
export type { ContainerStreams, TerminalSize } from './node/streams/container-streams.ts';
export { BackoffError, type BackoffErrorOptions } from './node/workers/backoff-error.ts';
export type { Admission, AdmissionLater } from './node/workers/pod-admissions.ts';
export { networkNotReadyMessage } from './node/workers/pod-lanes.ts';
export type { PodWorkerState, WorkerFailure } from './node/workers/pod-record.ts';
export type { KnownPod } from './node/workers/pod-records.ts';
export type {
  PodStatusFn,
  PodSyncer,
  RuntimeStatusCache,
  SyncPodRequest,
  SyncPodResult,
  SyncPodType,
  SyncTerminatedPodRequest,
  SyncTerminatingPodRequest,
} from './node/workers/pod-syncer.ts';
export type { FailingPod, PodWorkerReport, PodWorkersReport } from './node/workers/pod-worker-report.ts';
export { PodWorkers, type StoppedWorkers, type StopWorkersOptions } from './node/workers/pod-workers.ts';
export type { ContainerToStart } from './node/workers/restart-backoff.ts';
export { type RestartAnswer, RestartBackoff, type RestartBackoffOptions } from './node/workers/restart-backoff.ts';
export { SyncLoop } from './node/workers/sync-loop.ts';
export type {
  HousekeepingReport,
  LoopConfig,
  LoopPodManager,
  LoopPodWorkers,
  LoopRuntime,
  LoopWorkQueue,
  SyncLoopOptions,
} from './node/workers/sync-loop-options.ts';
export { type RetryQueue, WorkQueue, type WorkQueueOptions } from './node/workers/work-queue.ts';
export type {
  KillNowOptions,
  KillPodOptions,
  PodWorkersOptions,
  UpdatePodOptions,
  UpdateType,
} from './node/workers/workers-options.ts';
