/**
 * A kubelet: `NodeAgent`, a node of real containers, and what it is made of: runtimes, volumes, cgroups, logs, the kubelet's own
 * API. Sources, workers, probes and the node object, which any agent may use, are in `./node`.
 *
 * @module pod-status-manager/kubelet
 */
import './base/node-version.ts';

export type { SpecVolume } from './api/pod/pod-containers.ts';
export type { AgentSettings } from './kubelet/agent/agent-settings.ts';
export { optionOfField } from './kubelet/agent/kubelet-configuration.ts';
export { NodeAgent } from './kubelet/agent/node-agent.ts';
export type { AgentServerOptions, NodeAgentOptions, NodePlugins, ProblemSource } from './kubelet/agent/node-agent-options.ts';
export type {
  AgentPodExplanation,
  AgentPodReport,
  NodeAgentSnapshot,
  NodeAgentSnapshotOptions,
  StopNodeAgentOptions,
  StoppedNodeAgent,
} from './kubelet/agent/node-agent-reports.ts';
export type { CgroupFiles } from './kubelet/cgroups/cgroup-files.ts';
export { CgroupError } from './kubelet/cgroups/cgroup-files.ts';
export type { PodCgroups } from './kubelet/cgroups/cgroup-manager.ts';
export { CgroupManager, type CgroupManagerOptions } from './kubelet/cgroups/cgroup-manager.ts';
export type { CgroupDriver } from './kubelet/cgroups/cgroup-names.ts';
export type { NodeLimits } from './kubelet/cgroups/cgroup-resources.ts';
export type { MemoryQOS, NodeSwap } from './kubelet/cgroups/memory-classes.ts';
export type {
  CsiAccessMode,
  CsiNode,
  CsiNodeCapability,
  CsiNodeInfo,
  CsiVolumeUsage,
  CsiVolumeUse,
  ExpandVolumeRequest,
  PluginConnector,
  PublishVolumeRequest,
  StageVolumeRequest,
} from './kubelet/csi/csi-node.ts';
export type {
  ClaimedDevice,
  ContainerClaim,
  ContainerResources,
  DeviceAllocation,
  DeviceMount,
  DeviceNode,
  DevicePlugin,
  DevicePluginConnector,
  DevicePluginOptions,
  DevicePluginRegistration,
  ListedDevice,
  PluginDevice,
  PodResources,
  PodResourcesLister,
  PreferredAllocationRequest,
  ServedSocket,
} from './kubelet/devices/device-plugin.ts';
export type {
  DraClaim,
  DraConnector,
  DraDevice,
  DraDeviceHealth,
  DraDriver,
  DraService,
  PreparedClaim,
} from './kubelet/dra/dra-driver.ts';
export type { CredentialVerification } from './kubelet/images/image-puller-options.ts';
export { LogRotation, type LogRotationOptions } from './kubelet/logs/log-rotation.ts';
export type { Machine } from './kubelet/machine/machine.ts';
export type { DefaultRoute, InterfaceAddress, NodeNetwork } from './kubelet/machine/node-addresses.ts';
export type { PluginCall, PluginInfo, PluginRegistration } from './kubelet/registration/plugin-registration.ts';
export { PluginCallError } from './kubelet/registration/plugin-registration.ts';
export type {
  ContainerFilter,
  ContainerRuntime,
  ExecSyncResult,
  PullImageOptions,
  RuntimeCall,
  RuntimeCondition,
  RuntimeEvent,
  RuntimeHandler,
  RuntimeHealth,
  RuntimeVersion,
  SandboxFilter,
  StreamRequest,
} from './kubelet/runtime/container-runtime.ts';
export { isRuntimeError, RuntimeError, type RuntimeErrorKind } from './kubelet/runtime/container-runtime.ts';
export type {
  ContainerConfig,
  ContainerDetails,
  ContainerImage,
  ContainerMetadata,
  ContainerRecord,
  ContainerState,
  ContainerStats,
  ContainerUser,
  Device,
  HugepageLimit,
  LinuxContainerResources,
  Mount,
  MountPropagation,
  PodSandboxStats,
  ResourceUsage,
} from './kubelet/runtime/runtime-containers.ts';
export type { FilesystemUsage, ImageAuth, RuntimeImage } from './kubelet/runtime/runtime-images.ts';
export type {
  DNSConfig,
  PodSandboxConfig,
  PodSandboxDetails,
  PodSandboxMetadata,
  PodSandboxRecord,
  PortMapping,
  SandboxLinuxConfig,
} from './kubelet/runtime/runtime-sandboxes.ts';
export type {
  Capabilities,
  ContainerSecurityContext,
  IDMapping,
  NamespaceMode,
  NamespaceOptions,
  SandboxSecurityContext,
  SELinuxOptions,
  SecurityProfile,
  SupplementalGroupsPolicy,
} from './kubelet/runtime/security.ts';
export type { KubeletApiHost, KubeletApiOptions } from './kubelet/server/api-options.ts';
export { KubeletApi } from './kubelet/server/kubelet-api.ts';
export { LogindSignals, type LogindSignalsOptions } from './kubelet/shutdown/logind-signals.ts';
export type { NodeShutdownReport } from './kubelet/shutdown/node-shutdown.ts';
export type { ShutdownProgress } from './kubelet/shutdown/pod-shutdown.ts';
export type { ShutdownGracePeriod } from './kubelet/shutdown/shutdown-groups.ts';
export type { MachineShutdown, ShutdownHandle, ShutdownSignals } from './kubelet/shutdown/shutdown-signals.ts';
export {
  type BusCall,
  type BusConnection,
  type BusSignal,
  type OpenSystemBus,
  SystemBusError,
  type SystemBusErrorOptions,
  type SystemBusLimits,
} from './kubelet/systemd/system-bus.ts';
export type { DriverVolumeRequest, DriverVolumes, VolumeFailureReason } from './kubelet/volumes/driver-volumes.ts';
export type { BindOptions, FileSystemSettings, Mounter, TmpfsSettings } from './kubelet/volumes/mounter.ts';
export { LinuxMounter } from './kubelet/volumes/mounter.ts';
export type { MountedVolume, PodVolumes } from './kubelet/volumes/pod-folder.ts';
export { VolumeError, type VolumeFailure, VolumeManager } from './kubelet/volumes/volume-manager.ts';
export type { VolumeManagerOptions } from './kubelet/volumes/volume-manager-options.ts';
export type {
  CertificateNames,
  CertificateRequestContents,
  CertificateRequestMaker,
} from './node/certificates/certificate-names.ts';
export type { ServingCertificate } from './node/certificates/certificate-source.ts';
export type { ServingCertificateOptions } from './node/certificates/serving-options.ts';
export type { KeyValue } from './node/environment/start-texts.ts';
export type { Ownership } from './node/files/atomic-writer.ts';
export type { ConfigMapReader } from './node/object-managers/config-map-manager.ts';
export type { SecretReader } from './node/object-managers/secret-manager.ts';
export type { ServiceAccountToken, TokenRequest } from './node/pod-files/token-manager.ts';
export { TokenManager, type TokenManagerOptions } from './node/pod-files/token-manager.ts';
export type { HealthCheck } from './node/server/api-host.ts';
export { KubeletApiRefusal } from './node/server/exchange.ts';
export type { ServingFiles, TLSMinVersion } from './node/server/serving-files.ts';
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
