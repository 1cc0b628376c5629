// The gates of pkg/features, component-base/logs and client-go/features of v1.36.3, with their defaults.

import { invalidOption } from '../../base/errors.ts';
import { optionOfType } from '../../base/options.ts';

/** On, and v1.36 lets nobody turn them off. */
const lockedOn = wordsOf(`
  APIServerTracing AggregatedDiscoveryRemoveBetaType AnonymousAuthConfigurableEndpoints AnyVolumeDataSource
  AuthorizeNodeWithSelectors AuthorizeWithSelectors BtreeWatchCache CPUManagerPolicyOptions CRDValidationRatcheting
  CSIServiceAccountTokenSecrets ConsistentListFromCache CustomResourceFieldSelectors DRAAdminAccess
  DeclarativeValidation DisableAllocatorDualWrite DisableNodeKubeProxyVersion DynamicResourceAllocation ExecProbeTimeout
  ExternalServiceAccountTokenSigner ImageMaximumGCAge ImageVolume InOrderInformers InPlacePodVerticalScaling
  JobBackoffLimitPerIndex JobManagedBy JobPodReplacementPolicy JobSuccessPolicy KubeletCgroupDriverFromCRI
  KubeletFineGrainedAuthz KubeletPSI KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletTracing
  LogarithmicScaleDown MatchLabelKeysInPodAffinity MultiCIDRServiceAllocator MutableCSINodeAllocatableCount
  NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread NodeLogQuery NodeSwap OrderedNamespaceDeletion
  PodLifecycleSleepAction PodLifecycleSleepActionAllowZero PodObservedGenerationTracking PodSchedulingReadiness
  PreferSameTrafficDistribution ProcMountType RecoverVolumeExpansionFailure RecursiveReadOnlyMounts
  RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation ResilientWatchCacheInitialization RetryGenerateName
  SELinuxChangePolicy SELinuxMountReadWriteOncePod SchedulerQueueingHints SeparateTaintEvictionController
  ServiceAccountTokenJTI ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation
  ServiceAccountTokenPodNodeInfo SidecarContainers StreamingCollectionEncodingToJSON
  StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfiguration SupplementalGroupsPolicy SystemdWatchdog
  TopologyManagerPolicyOptions UserNamespacesSupport VolumeAttributesClass WinDSR WinOverlay
`);

/** Off, and v1.36 lets nobody turn them on. */
const lockedOff = wordsOf(`
  AllowOverwriteTerminationGracePeriodSeconds GitRepoVolumeDriver SeparateCacheWatchRPC
`);

/** What the kubelet does with them is on unless somebody turns it off. */
const on = wordsOf(`
  CPUManagerPolicyBetaOptions ComponentFlagz ComponentStatusz ContainerCheckpoint ContainerRestartRules
  CustomCPUCFSQuotaPeriod DRAExtendedResource DisableCPUQuotaWithExclusiveCPUs EnvFiles ExtendWebSocketsToKubelet
  GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority HostnameOverride InPlacePodLevelResourcesVerticalScaling
  InPlacePodVerticalScalingInitContainers KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages
  KubeletPodResourcesListUseActivePods KubeletSeparateDiskGC KubeletServiceAccountTokenForCredentialProviders
  NodeDeclaredFeatures PLEGOnDemandRelist PodLevelResources PodReadyToStartContainersCondition
  PreventStaticPodAPIReferences ReloadKubeletClientCAFile ReloadKubeletServerCertificateFile ResourceHealthStatus
  ResourceHealthStatusMessage RestartAllContainersOnContainerExits RotateKubeletServerCertificate
  TopologyManagerPolicyBetaOptions
`);

/** What the kubelet does with them is off unless somebody turns it on. */
const off = wordsOf(`
  AllowDNSOnlyNodeCSR CPUManagerPolicyAlphaOptions CRIListStreaming CSIVolumeHealth
  ChangeContainerStatusOnKubeletRestart ClusterTrustBundleProjection ContainerStopSignals DRAWorkloadResourceClaims
  ImageVolumeWithDigest InPlacePodVerticalScalingExclusiveCPUs InPlacePodVerticalScalingExclusiveMemory
  KubeletInUserNamespace KubeletRegistrationGetOnExistsOnly LocalStorageCapacityIsolationFSQuotaMonitoring
  PodAndContainerStatsFromCRI PodCertificateRequest PodLevelResourceManagers PodLogsQuerySplitStreams PodsAPI
  QOSReserved ReduceDefaultCrashLoopBackOffDecay RuntimeClassInImageCriApi SELinuxMount
  TaintTolerationComparisonOperators TopologyManagerPolicyAlphaOptions UserNamespacesHostNetworkSupport
`);

/** Gates of other components, of Windows, and of the libraries of Go: they change nothing of a node that Linux runs. */
const others = wordsOf(`
  APIResponseCompression APIServerIdentity APIServingWithRoutine AllowInsecureKubeletCertificateSigningRequests
  AllowParsingUserUIDFromCertAuth AllowServiceExternalIPs AllowUnsafeMalformedObjectDeletion AtomicFIFO
  AuthorizePodWebsocketUpgradeCreatePermission CBORServingAndStorage CRDObservedGenerationTracking
  ClearingNominatedNodeNameAfterBinding ClientsAllowCARotation ClientsAllowCBOR ClientsAllowTLSCacheGC ClientsPreferCBOR
  CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook ClusterTrustBundle
  ConcurrentWatchObjectDecode ConstrainedImpersonation ContextualLogging CoordinatedLeaderElection
  CrossNamespaceVolumeDataSource DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaintRules DRADeviceTaints
  DRAListTypeAttributes DRANodeAllocatableResources DRAPartitionableDevices DRAPrioritizedList
  DRAResourceClaimDeviceStatus DRAResourceClaimGranularStatusAuthorization DRAResourcePoolStatus
  DRASchedulerFilterTimeout DeclarativeValidationBeta DeclarativeValidationTakeover
  DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency GangScheduling GenericWorkload
  HPAConfigurableTolerance HPAScaleToZero InOrderInformersBatchProcess InformerResourceVersion KMSv1
  ListFromCacheSnapshot LoggingAlphaOptions LoggingBetaOptions ManifestBasedAdmissionControlConfig
  MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge MaxUnavailableStatefulSet
  MutablePVNodeAffinity MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs
  MutatingAdmissionPolicy NominatedNodeNameForExpectation OpenAPIEnums OpportunisticBatching
  PersistentVolumeClaimUnusedSinceTime PodDeletionCost PodTopologyLabelsAdmission PortForwardWebsockets
  RelaxedServiceNameValidation RemoteRequestHeaderUID SchedulerAsyncAPICalls SchedulerAsyncPreemption
  SchedulerPopFromBackoffQ ServiceAccountNodeAudienceRestriction ServiceCIDRStatusFieldWiping ShardedListAndWatch
  SizeBasedListCostEstimate StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob
  StaleControllerConsistencyReplicaSet StaleControllerConsistencyStatefulSet StatefulSetSemanticRevisionComparison
  StorageCapacityScoring StorageNamespaceIndex StorageVersionAPI StorageVersionHash StorageVersionMigrator
  StrictIPCIDRValidation StructuredAuthenticationConfigurationEgressSelector
  StructuredAuthenticationConfigurationJWKSMetrics TokenRequestServiceAccountUIDValidation
  TopologyAwareWorkloadScheduling TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation
  UnknownVersionInteroperabilityProxy UnlockWhileProcessingFIFO VolumeLimitScaling WatchCacheInitializationPostStartHook
  WatchList WatchListClient WindowsCPUAndMemoryAffinity WindowsGracefulNodeShutdown WindowsHostNetwork
  WorkloadAwarePreemption WorkloadWithJob
`);

/** The agent does what they say, on or off; they are off unless somebody turns them on. */
const heeded = wordsOf('MemoryQoS');

/** The agent does the same with both values: it hears the runtime's events, and lists its pods as well. */
const sameHere = wordsOf('EventedPLEG');

/** So many gates are looked at. */
const mostGates = 500;

/**
 * A gate of another component may have any value, as with the kubelet, and so may one that the agent heeds. Any other gate of the
 * kubelet may have the value that v1.36 gives it, which is what the agent does. Throws ERR_INVALID_OPTION for any other value, and for a gate that v1.36 does not have.
 */
export function requireFeatureGates(gates: Readonly<Record<string, boolean>>): void {
  if (typeof gates !== 'object' || gates === null || Array.isArray(gates)) {
    throw invalidOption('featureGates', 'an object of gates, each true or false', gates);
  }
  const entries = Object.entries(gates);
  if (entries.length > mostGates) throw invalidOption('featureGates', `an object of at most ${mostGates} gates`, entries.length);
  for (const [gate, value] of entries) {
    const name = `featureGates.${gate}`;
    optionOfType(name, value, 'boolean');
    const rule = refusalOf(gate, value);
    if (rule !== undefined) throw invalidOption(name, rule, value);
  }
}

/** The rule that a gate's value breaks; undefined where it may have it. */
function refusalOf(gate: string, value: boolean): string | undefined {
  if (others.has(gate) || heeded.has(gate) || sameHere.has(gate)) return undefined;
  if (lockedOn.has(gate)) return value ? undefined : 'true, since Kubernetes v1.36 lets nobody turn it off';
  if (lockedOff.has(gate)) return value ? 'false, since Kubernetes v1.36 lets nobody turn it on' : undefined;
  if (on.has(gate)) return value ? undefined : 'true, since this agent always does what the gate turns on';
  if (off.has(gate)) return value ? 'false, since this agent does not do what the gate turns on' : undefined;
  if (gate === 'AllAlpha') return value ? 'false, since this agent does not do all that is alpha: name the gates' : undefined;
  if (gate === 'AllBeta')
    return 'left out, since this agent does not do all that is beta, nor can it turn all of it off: name the gates';
  return 'left out, since Kubernetes v1.36 has no such gate';
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
