/**
 * The parts of a node agent, each of which can be used alone, and `ProviderNode`, which puts them together.
 *
 * @module pod-status-manager/node
 */
import './node-version.ts';

export type { AgentSettings } from './agent/agent-settings.ts';
export type { Machine } from './agent/node/machine.ts';
export type { DefaultRoute, InterfaceAddress, NodeNetwork } from './agent/node/node-network.ts';
export { NodeAgent } from './agent/node-agent.ts';
export type { AgentServerOptions, NodeAgentOptions } from './agent/node-agent-options.ts';
export type {
  AgentPodReport,
  NodeAgentSnapshot,
  NodeAgentSnapshotOptions,
  StopNodeAgentOptions,
  StoppedNodeAgent,
} from './agent/node-agent-reports.ts';
export { BackoffError } from './backoff/backoff-error.ts';
export type { ContainerToStart } from './backoff/container-key.ts';
export { type RestartAnswer, RestartBackoff, type RestartBackoffOptions } from './backoff/restart-backoff.ts';
export { CgroupError } from './cgroups/cgroup-error.ts';
export type { CgroupFiles } from './cgroups/cgroup-files.ts';
export { CgroupManager, type CgroupManagerOptions } from './cgroups/cgroup-manager.ts';
export type { CgroupDriver } from './cgroups/cgroup-names.ts';
export type { NodeLimits } from './cgroups/node-limits.ts';
export type { PodCgroups } from './cgroups/pod-cgroups.ts';
export type { ConfigMode } from './config/notifications.ts';
export type { MetadataOf } from './config/pod-changes.ts';
export { PodConfig } from './config/pod-config.ts';
export type { PodConfigOptions } from './config/pod-config-options.ts';
export type { PodSourceReport } from './config/pod-source-report.ts';
export type { PodOperation, PodUpdate } from './config/pod-update.ts';
export { LogRotation, type LogRotationOptions } from './container-logs/log-rotation.ts';
export { ApiEventRecorder, type ApiEventRecorderOptions } from './events/api-event-recorder.ts';
export { LinuxMounter } from './files/linux-mounter.ts';
export type { BindOptions, Mounter, Ownership, TmpfsSettings } from './files/mounter.ts';
export type { CredentialVerification } from './images/image-puller-options.ts';
export type { KubeletApiOptions } from './kubelet-api/api-options.ts';
export { KubeletApiRefusal } from './kubelet-api/api-refusal.ts';
export { KubeletApi } from './kubelet-api/kubelet-api.ts';
export type { HealthCheck, KubeletApiHost } from './kubelet-api/kubelet-api-host.ts';
export type { ServingFiles } from './kubelet-api/serving-files.ts';
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
} from './kubelet-api/stats-types.ts';
export type { TLSMinVersion } from './kubelet-api/tls-settings.ts';
export { decodeStaticPods } from './manifest/decode-static-pods.ts';
export type { ManifestOrigin } from './manifest/static-pod.ts';
export { InvalidManifestError, type ManifestFault } from './manifest/text/invalid-manifest.ts';
export type { AdvertisedStatus } from './node-object/advertised-status.ts';
export type { NodeIdentity } from './node-object/initial-node.ts';
export type { LeaseRival } from './node-object/lease-rivals.ts';
export type { NodePressures, NodeReadiness } from './node-object/node-health.ts';
export { NodeObject, type StopNodeOptions } from './node-object/node-object.ts';
export type { NodeObjectOptions } from './node-object/node-object-options.ts';
export type { NodeObjectReport } from './node-object/node-object-report.ts';
export type { NodeObjectStopped, RemovalOutcome } from './node-object/node-removal.ts';
export type { StepFailure } from './node-object/steady-loop.ts';
export type { EventRecorder, EventType } from './pod/event-recorder.ts';
export type { ResourceQuantities } from './pod/resource-field.ts';
export type { RunningPod, RuntimeContainerStatus, RuntimePodStatus } from './pod/runtime-pod.ts';
export type { ProbedState } from './probes/container-state.ts';
export { NetworkProber, type NetworkProberOptions } from './probes/network-prober.ts';
export { ProbeManager } from './probes/probe-manager.ts';
export type { ProbeHandlers, ProbeManagerOptions, ProbeStatusManager } from './probes/probe-manager-options.ts';
export type { ProbeResult, ProbeResultUpdate, ProbeType } from './probes/probe-types.ts';
export type {
  ExecProbeTarget,
  GrpcProbeTarget,
  HttpProbeTarget,
  ProbeOutcome,
  Prober,
  ProbeSubject,
  TcpProbeTarget,
} from './probes/prober.ts';
export type { ContainerRun, RunContainer } from './provider/container-life.ts';
export { ContainerProvider, type ContainerProviderOptions } from './provider/container-provider.ts';
export type {
  ContainerSpec,
  DeletePodCall,
  NodePod,
  NotifyPods,
  PodAnswer,
  PodProvider,
  ProviderCall,
} from './provider/pod-provider.ts';
export type { ProviderFailure } from './provider/provided-pod.ts';
export type { ProvidedPods } from './provider/provided-pods.ts';
export { ProviderNode } from './provider/provider-node.ts';
export type { NodeMembers, ProviderNodeOptions, SharedOption } from './provider/provider-node-options.ts';
export type {
  ProviderFailureReport,
  ProviderNodeSnapshot,
  ProviderNodeSnapshotOptions,
  ProviderPodExplanation,
  ProviderPodReport,
  StopProviderNodeOptions,
  StoppedProviderNode,
} from './provider/provider-node-reports.ts';
export { ProviderPodSyncer } from './provider/provider-pod-syncer.ts';
export type { ProviderPodSyncerOptions } from './provider/provider-pod-syncer-options.ts';
export type {
  ContainerFilter,
  ContainerRuntime,
  ExecSyncResult,
  PullImageOptions,
  RuntimeCall,
  SandboxFilter,
  StreamRequest,
} from './runtime/container-runtime.ts';
export type { HugepageLimit, LinuxContainerResources } from './runtime/linux-resources.ts';
export type {
  ContainerConfig,
  ContainerDetails,
  ContainerImage,
  ContainerMetadata,
  ContainerRecord,
  ContainerState,
  ContainerUser,
  Device,
  KeyValue,
  Mount,
  MountPropagation,
} from './runtime/runtime-containers.ts';
export { isRuntimeError, RuntimeError, type RuntimeErrorKind } from './runtime/runtime-error.ts';
export type { RuntimeCondition, RuntimeEvent, RuntimeHandler, RuntimeHealth, RuntimeVersion } from './runtime/runtime-health.ts';
export type { FilesystemUsage, ImageAuth, RuntimeImage } from './runtime/runtime-images.ts';
export type {
  DNSConfig,
  PodSandboxConfig,
  PodSandboxDetails,
  PodSandboxMetadata,
  PodSandboxRecord,
  PortMapping,
  SandboxLinuxConfig,
} from './runtime/runtime-sandboxes.ts';
export type { ContainerStats, PodSandboxStats, ResourceUsage } from './runtime/runtime-stats.ts';
export type {
  Capabilities,
  ContainerSecurityContext,
  NamespaceMode,
  NamespaceOptions,
  SandboxSecurityContext,
  SELinuxOptions,
  SecurityProfile,
  SupplementalGroupsPolicy,
} from './runtime/security.ts';
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
export { ApiServerSource, type ApiServerSourceOptions } from './sources/api-server-source.ts';
export { FileSource, type FileSourceOptions } from './sources/file-source.ts';
export { HttpSource } from './sources/http-source.ts';
export type { HttpSourceOptions } from './sources/http-source-options.ts';
export type { PodBudgetOptions } from './sources/pod-budget.ts';
export type { PodSource, SendPods } from './sources/pod-source.ts';
export type { Admission } from './sync-loop/admission.ts';
export { SyncLoop } from './sync-loop/sync-loop.ts';
export type {
  HousekeepingReport,
  LoopConfig,
  LoopPodManager,
  LoopPodWorkers,
  LoopRuntime,
  LoopWorkQueue,
  SyncLoopOptions,
} from './sync-loop/sync-loop-options.ts';
export type { MountedVolume, PodVolumes } from './volumes/pod-volumes.ts';
export type { ServiceAccountToken, TokenRequest } from './volumes/service-account-token.ts';
export { TokenManager, type TokenManagerOptions } from './volumes/token-manager.ts';
export { VolumeError, type VolumeFailure } from './volumes/volume-error.ts';
export { VolumeManager } from './volumes/volume-manager.ts';
export type { ConfigMapReader, SecretReader, VolumeManagerOptions } from './volumes/volume-manager-options.ts';
export type { SpecVolume } from './volumes/volume-request.ts';
export type {
  WireContainerImage,
  WireNode,
  WireNodeAddress,
  WireNodeDaemonEndpoints,
  WireNodeFeatures,
  WireNodeRuntimeHandler,
  WireNodeSystemInfo,
  WireTaint,
} from './wire/node-types.ts';
export type { PodWorkerState, WorkerFailure } from './workers/pod-record.ts';
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
export type { PodWorkerReport, PodWorkersReport } from './workers/pod-worker-report.ts';
export { PodWorkers, type StoppedWorkers, type StopWorkersOptions } from './workers/pod-workers.ts';
export { networkNotReadyMessage } from './workers/retry-delay.ts';
export type { KillNowOptions, KillPodOptions, UpdatePodOptions, UpdateType } from './workers/update-pod-options.ts';
export { type RetryQueue, WorkQueue, type WorkQueueOptions } from './workers/work-queue.ts';
export type { PodWorkersOptions } from './workers/workers-options.ts';
