import type { WirePod } from '../json/types.ts';

/** A field of a type. */
export interface Field {
  readonly name: string;
  /** A scalar's type, or `#Type`, `[]TYPE` for a list and `{}TYPE` for a map by name. */
  readonly type: string;
  /**
   * `optional`: zero means absent, and is left out. `required`: always there, zero where it was not given.
   * `pointer`: zero is a value like any other, and absent is something else.
   */
  readonly presence: 'optional' | 'required' | 'pointer';
}

/** The fields of a type, written below as `name:type` with `!` behind a required one and `?` behind a pointer. */
export function parseFields(lines: readonly string[]): readonly Field[] {
  return lines.flatMap((line) => line.split(' ').map(parseField));
}

function parseField(text: string): Field {
  const at = text.indexOf(':');
  const mark = text.at(-1);
  const presence = mark === '!' ? 'required' : mark === '?' ? 'pointer' : 'optional';
  return { name: text.slice(0, at), type: text.slice(at + 1, presence === 'optional' ? undefined : -1), presence };
}

// The fields of the types of a pod's spec, from k8s.io/api/core/v1 types.go, v0.36.3.

export const podSpecTypes = {
  PodSpec: [
    'volumes:[]#Volume initContainers:[]#Container containers:[]#Container! ephemeralContainers:[]#EphemeralContainer',
    'restartPolicy:string terminationGracePeriodSeconds:int64? activeDeadlineSeconds:int64? dnsPolicy:string',
    'nodeSelector:{}string serviceAccountName:string serviceAccount:string automountServiceAccountToken:bool?',
    'nodeName:string hostNetwork:bool hostPID:bool hostIPC:bool shareProcessNamespace:bool?',
    'securityContext:#PodSecurityContext? imagePullSecrets:[]#LocalObjectReference hostname:string subdomain:string',
    'affinity:#Affinity? schedulerName:string tolerations:[]#Toleration hostAliases:[]#HostAlias',
    'priorityClassName:string priority:int32? dnsConfig:#PodDNSConfig? readinessGates:[]#PodReadinessGate',
    'runtimeClassName:string? enableServiceLinks:bool? preemptionPolicy:string? overhead:{}quantity',
    'topologySpreadConstraints:[]#TopologySpreadConstraint setHostnameAsFQDN:bool? os:#PodOS? hostUsers:bool?',
    'schedulingGates:[]#PodSchedulingGate resourceClaims:[]#PodResourceClaim resources:#ResourceRequirements?',
    'hostnameOverride:string? schedulingGroup:#PodSchedulingGroup?',
  ],
  PodSecurityContext: [
    'seLinuxOptions:#SELinuxOptions? windowsOptions:#WindowsSecurityContextOptions? runAsUser:int64?',
    'runAsGroup:int64? runAsNonRoot:bool? supplementalGroups:[]int64 supplementalGroupsPolicy:string? fsGroup:int64?',
    'sysctls:[]#Sysctl fsGroupChangePolicy:string? seccompProfile:#SeccompProfile? appArmorProfile:#AppArmorProfile?',
    'seLinuxChangePolicy:string?',
  ],
  SELinuxOptions: ['user:string role:string type:string level:string'],
  WindowsSecurityContextOptions: [
    'gmsaCredentialSpecName:string? gmsaCredentialSpec:string? runAsUserName:string? hostProcess:bool?',
  ],
  SeccompProfile: ['type:string! localhostProfile:string?'],
  AppArmorProfile: ['type:string! localhostProfile:string?'],
  Sysctl: ['name:string! value:string!'],
  PodDNSConfig: ['nameservers:[]string searches:[]string options:[]#PodDNSConfigOption'],
  PodDNSConfigOption: ['name:string value:string?'],
  HostAlias: ['ip:string! hostnames:[]string'],
  PodReadinessGate: ['conditionType:string!'],
  PodOS: ['name:string!'],
  PodResourceClaim: ['name:string! resourceClaimName:string? resourceClaimTemplateName:string?'],
} as const;

// The fields of the types of metadata, and what several parts of a pod share, from k8s.io/api/core/v1 types.go, v0.36.3.

export const metadataTypes = {
  ResourceRequirements: ['limits:{}quantity requests:{}quantity claims:[]#ResourceClaim'],
  ResourceClaim: ['name:string! request:string'],
  PodList: ['metadata:#ListMeta! items:[]#Pod!'],
  ListMeta: ['selfLink:string resourceVersion:string continue:string remainingItemCount:int64?'],
  Pod: ['kind:string apiVersion:string metadata:#ObjectMeta! spec:#PodSpec! status:#PodStatus!'],
  ObjectMeta: [
    'name:string generateName:string namespace:string selfLink:string uid:string resourceVersion:string',
    'generation:int64 creationTimestamp:time deletionTimestamp:time? deletionGracePeriodSeconds:int64?',
    'labels:{}string annotations:{}string ownerReferences:[]#OwnerReference finalizers:[]string',
    'managedFields:[]#ManagedFieldsEntry',
  ],
  OwnerReference: ['apiVersion:string! kind:string! name:string! uid:string! controller:bool? blockOwnerDeletion:bool?'],
  ManagedFieldsEntry: [
    'manager:string operation:string apiVersion:string time:time? fieldsType:string fieldsV1:raw? subresource:string',
  ],
  LabelSelector: ['matchLabels:{}string matchExpressions:[]#LabelSelectorRequirement'],
  LabelSelectorRequirement: ['key:string! operator:string! values:[]string'],
  LocalObjectReference: ['name:string'],
  ObjectFieldSelector: ['apiVersion:string fieldPath:string!'],
  ResourceFieldSelector: ['containerName:string resource:string! divisor:quantity!'],
  KeyToPath: ['key:string! path:string! mode:int32?'],
} as const;

// The fields of the types of containers, from k8s.io/api/core/v1 types.go, v0.36.3.

const containerFields = [
  'name:string! image:string command:[]string args:[]string workingDir:string ports:[]#ContainerPort',
  'envFrom:[]#EnvFromSource env:[]#EnvVar resources:#ResourceRequirements! resizePolicy:[]#ContainerResizePolicy',
  'restartPolicy:string? restartPolicyRules:[]#ContainerRestartRule volumeMounts:[]#VolumeMount',
  'volumeDevices:[]#VolumeDevice livenessProbe:#Probe? readinessProbe:#Probe? startupProbe:#Probe?',
  'lifecycle:#Lifecycle? terminationMessagePath:string terminationMessagePolicy:string imagePullPolicy:string',
  'securityContext:#SecurityContext? stdin:bool stdinOnce:bool tty:bool',
] as const;

export const containerTypes = {
  Container: containerFields,
  EphemeralContainer: [...containerFields, 'targetContainerName:string'],
  ContainerPort: ['name:string hostPort:int32 containerPort:int32! protocol:string hostIP:string'],
  ContainerResizePolicy: ['resourceName:string! restartPolicy:string!'],
  ContainerRestartRule: ['action:string exitCodes:#ContainerRestartRuleOnExitCodes?'],
  ContainerRestartRuleOnExitCodes: ['operator:string values:[]int32'],
  EnvVar: ['name:string! value:string valueFrom:#EnvVarSource?'],
  EnvVarSource: [
    'fieldRef:#ObjectFieldSelector? resourceFieldRef:#ResourceFieldSelector? configMapKeyRef:#ConfigMapKeySelector?',
    'secretKeyRef:#SecretKeySelector? fileKeyRef:#FileKeySelector?',
  ],
  EnvFromSource: ['prefix:string configMapRef:#ConfigMapEnvSource? secretRef:#SecretEnvSource?'],
  ConfigMapEnvSource: ['name:string optional:bool?'],
  SecretEnvSource: ['name:string optional:bool?'],
  ConfigMapKeySelector: ['name:string key:string! optional:bool?'],
  SecretKeySelector: ['name:string key:string! optional:bool?'],
  FileKeySelector: ['volumeName:string! path:string! key:string! optional:bool?'],
  VolumeMount: [
    'name:string! readOnly:bool recursiveReadOnly:string? mountPath:string! subPath:string mountPropagation:string?',
    'subPathExpr:string',
  ],
  VolumeDevice: ['name:string! devicePath:string!'],
  Probe: [
    'exec:#ExecAction? httpGet:#HTTPGetAction? tcpSocket:#TCPSocketAction? grpc:#GRPCAction?',
    'initialDelaySeconds:int32 timeoutSeconds:int32 periodSeconds:int32 successThreshold:int32 failureThreshold:int32',
    'terminationGracePeriodSeconds:int64?',
  ],
  Lifecycle: ['postStart:#LifecycleHandler? preStop:#LifecycleHandler? stopSignal:string?'],
  LifecycleHandler: ['exec:#ExecAction? httpGet:#HTTPGetAction? tcpSocket:#TCPSocketAction? sleep:#SleepAction?'],
  ExecAction: ['command:[]string'],
  HTTPGetAction: ['path:string port:intOrString! host:string scheme:string httpHeaders:[]#HTTPHeader'],
  HTTPHeader: ['name:string! value:string!'],
  TCPSocketAction: ['port:intOrString! host:string'],
  GRPCAction: ['port:int32! service:string?'],
  SleepAction: ['seconds:int64!'],
  SecurityContext: [
    'capabilities:#Capabilities? privileged:bool? seLinuxOptions:#SELinuxOptions?',
    'windowsOptions:#WindowsSecurityContextOptions? runAsUser:int64? runAsGroup:int64? runAsNonRoot:bool?',
    'readOnlyRootFilesystem:bool? allowPrivilegeEscalation:bool? procMount:string? seccompProfile:#SeccompProfile?',
    'appArmorProfile:#AppArmorProfile?',
  ],
  Capabilities: ['add:[]string drop:[]string'],
} as const;

// The fields of the types of volumes, from k8s.io/api/core/v1 types.go, v0.36.3.

export const volumeTypes = {
  Volume: [
    'name:string! hostPath:#HostPathVolumeSource? emptyDir:#EmptyDirVolumeSource?',
    'gcePersistentDisk:#GCEPersistentDiskVolumeSource? awsElasticBlockStore:#AWSElasticBlockStoreVolumeSource?',
    'gitRepo:#GitRepoVolumeSource? secret:#SecretVolumeSource? nfs:#NFSVolumeSource? iscsi:#ISCSIVolumeSource?',
    'glusterfs:#GlusterfsVolumeSource? persistentVolumeClaim:#PersistentVolumeClaimVolumeSource?',
    'rbd:#RBDVolumeSource? flexVolume:#FlexVolumeSource? cinder:#CinderVolumeSource? cephfs:#CephFSVolumeSource?',
    'flocker:#FlockerVolumeSource? downwardAPI:#DownwardAPIVolumeSource? fc:#FCVolumeSource?',
    'azureFile:#AzureFileVolumeSource? configMap:#ConfigMapVolumeSource?',
    'vsphereVolume:#VsphereVirtualDiskVolumeSource? quobyte:#QuobyteVolumeSource? azureDisk:#AzureDiskVolumeSource?',
    'photonPersistentDisk:#PhotonPersistentDiskVolumeSource? projected:#ProjectedVolumeSource?',
    'portworxVolume:#PortworxVolumeSource? scaleIO:#ScaleIOVolumeSource? storageos:#StorageOSVolumeSource?',
    'csi:#CSIVolumeSource? ephemeral:#EphemeralVolumeSource? image:#ImageVolumeSource?',
  ],
  AWSElasticBlockStoreVolumeSource: ['volumeID:string! fsType:string partition:int32 readOnly:bool'],
  AzureDiskVolumeSource: ['diskName:string! diskURI:string! cachingMode:string? fsType:string? readOnly:bool? kind:string?'],
  AzureFileVolumeSource: ['secretName:string! shareName:string! readOnly:bool'],
  CSIVolumeSource: [
    'driver:string! readOnly:bool? fsType:string? volumeAttributes:{}string',
    'nodePublishSecretRef:#LocalObjectReference?',
  ],
  CephFSVolumeSource: [
    'monitors:[]string! path:string user:string secretFile:string secretRef:#LocalObjectReference? readOnly:bool',
  ],
  CinderVolumeSource: ['volumeID:string! fsType:string readOnly:bool secretRef:#LocalObjectReference?'],
  ClusterTrustBundleProjection: ['name:string? signerName:string? labelSelector:#LabelSelector? optional:bool? path:string!'],
  ConfigMapProjection: ['name:string items:[]#KeyToPath optional:bool?'],
  ConfigMapVolumeSource: ['name:string items:[]#KeyToPath defaultMode:int32? optional:bool?'],
  DownwardAPIProjection: ['items:[]#DownwardAPIVolumeFile'],
  DownwardAPIVolumeFile: ['path:string! fieldRef:#ObjectFieldSelector? resourceFieldRef:#ResourceFieldSelector? mode:int32?'],
  DownwardAPIVolumeSource: ['items:[]#DownwardAPIVolumeFile defaultMode:int32?'],
  EmptyDirVolumeSource: ['medium:string sizeLimit:quantity?'],
  EphemeralVolumeSource: ['volumeClaimTemplate:#PersistentVolumeClaimTemplate?'],
  FCVolumeSource: ['targetWWNs:[]string lun:int32? fsType:string readOnly:bool wwids:[]string'],
  FlexVolumeSource: ['driver:string! fsType:string secretRef:#LocalObjectReference? readOnly:bool options:{}string'],
  FlockerVolumeSource: ['datasetName:string datasetUUID:string'],
  GCEPersistentDiskVolumeSource: ['pdName:string! fsType:string partition:int32 readOnly:bool'],
  GitRepoVolumeSource: ['repository:string! revision:string directory:string'],
  GlusterfsVolumeSource: ['endpoints:string! path:string! readOnly:bool'],
  HostPathVolumeSource: ['path:string! type:string?'],
  ISCSIVolumeSource: [
    'targetPortal:string! iqn:string! lun:int32! iscsiInterface:string fsType:string readOnly:bool portals:[]string',
    'chapAuthDiscovery:bool chapAuthSession:bool secretRef:#LocalObjectReference? initiatorName:string?',
  ],
  ImageVolumeSource: ['reference:string pullPolicy:string'],
  NFSVolumeSource: ['server:string! path:string! readOnly:bool'],
  PersistentVolumeClaimSpec: [
    'accessModes:[]string selector:#LabelSelector? resources:#VolumeResourceRequirements! volumeName:string',
    'storageClassName:string? volumeMode:string? dataSource:#TypedLocalObjectReference?',
    'dataSourceRef:#TypedObjectReference? volumeAttributesClassName:string?',
  ],
  PersistentVolumeClaimTemplate: ['metadata:#ObjectMeta! spec:#PersistentVolumeClaimSpec!'],
  PersistentVolumeClaimVolumeSource: ['claimName:string! readOnly:bool'],
  PhotonPersistentDiskVolumeSource: ['pdID:string! fsType:string'],
  PodCertificateProjection: [
    'signerName:string keyType:string maxExpirationSeconds:int32? credentialBundlePath:string keyPath:string',
    'certificateChainPath:string userAnnotations:{}string',
  ],
  PortworxVolumeSource: ['volumeID:string! fsType:string readOnly:bool'],
  ProjectedVolumeSource: ['sources:[]#VolumeProjection! defaultMode:int32?'],
  QuobyteVolumeSource: ['registry:string! volume:string! readOnly:bool user:string group:string tenant:string'],
  RBDVolumeSource: [
    'monitors:[]string! image:string! fsType:string pool:string user:string keyring:string',
    'secretRef:#LocalObjectReference? readOnly:bool',
  ],
  ScaleIOVolumeSource: [
    'gateway:string! system:string! secretRef:#LocalObjectReference? sslEnabled:bool protectionDomain:string',
    'storagePool:string storageMode:string volumeName:string fsType:string readOnly:bool',
  ],
  SecretProjection: ['name:string items:[]#KeyToPath optional:bool?'],
  SecretVolumeSource: ['secretName:string items:[]#KeyToPath defaultMode:int32? optional:bool?'],
  ServiceAccountTokenProjection: ['audience:string expirationSeconds:int64? path:string!'],
  StorageOSVolumeSource: [
    'volumeName:string volumeNamespace:string fsType:string readOnly:bool secretRef:#LocalObjectReference?',
  ],
  TypedLocalObjectReference: ['apiGroup:string? kind:string! name:string!'],
  TypedObjectReference: ['apiGroup:string? kind:string! name:string! namespace:string?'],
  VolumeProjection: [
    'secret:#SecretProjection? downwardAPI:#DownwardAPIProjection? configMap:#ConfigMapProjection?',
    'serviceAccountToken:#ServiceAccountTokenProjection? clusterTrustBundle:#ClusterTrustBundleProjection?',
    'podCertificate:#PodCertificateProjection?',
  ],
  VolumeResourceRequirements: ['limits:{}quantity requests:{}quantity'],
  VsphereVirtualDiskVolumeSource: ['volumePath:string! fsType:string storagePolicyName:string storagePolicyID:string'],
} as const;

// The fields of the types of what the scheduler reads, from k8s.io/api/core/v1 types.go, v0.36.3.

export const schedulingTypes = {
  Affinity: ['nodeAffinity:#NodeAffinity? podAffinity:#PodAffinity? podAntiAffinity:#PodAntiAffinity?'],
  NodeAffinity: [
    'requiredDuringSchedulingIgnoredDuringExecution:#NodeSelector?',
    'preferredDuringSchedulingIgnoredDuringExecution:[]#PreferredSchedulingTerm',
  ],
  NodeSelector: ['nodeSelectorTerms:[]#NodeSelectorTerm!'],
  NodeSelectorTerm: ['matchExpressions:[]#NodeSelectorRequirement matchFields:[]#NodeSelectorRequirement'],
  NodeSelectorRequirement: ['key:string! operator:string! values:[]string'],
  PreferredSchedulingTerm: ['weight:int32! preference:#NodeSelectorTerm!'],
  PodAffinity: [
    'requiredDuringSchedulingIgnoredDuringExecution:[]#PodAffinityTerm',
    'preferredDuringSchedulingIgnoredDuringExecution:[]#WeightedPodAffinityTerm',
  ],
  PodAntiAffinity: [
    'requiredDuringSchedulingIgnoredDuringExecution:[]#PodAffinityTerm',
    'preferredDuringSchedulingIgnoredDuringExecution:[]#WeightedPodAffinityTerm',
  ],
  PodAffinityTerm: [
    'labelSelector:#LabelSelector? namespaces:[]string topologyKey:string! namespaceSelector:#LabelSelector?',
    'matchLabelKeys:[]string mismatchLabelKeys:[]string',
  ],
  WeightedPodAffinityTerm: ['weight:int32! podAffinityTerm:#PodAffinityTerm!'],
  Toleration: ['key:string operator:string value:string effect:string tolerationSeconds:int64?'],
  TopologySpreadConstraint: [
    'maxSkew:int32! topologyKey:string! whenUnsatisfiable:string! labelSelector:#LabelSelector? minDomains:int32?',
    'nodeAffinityPolicy:string? nodeTaintsPolicy:string? matchLabelKeys:[]string',
  ],
  PodSchedulingGate: ['name:string!'],
  PodSchedulingGroup: ['podGroupName:string?'],
} as const;

// The fields of the types of a pod's status, from k8s.io/api/core/v1 types.go, v0.36.3.

export const statusTypes = {
  PodStatus: [
    'observedGeneration:int64 phase:string conditions:[]#PodCondition message:string reason:string',
    'nominatedNodeName:string hostIP:string hostIPs:[]#HostIP podIP:string podIPs:[]#PodIP startTime:time?',
    'initContainerStatuses:[]#ContainerStatus containerStatuses:[]#ContainerStatus qosClass:string',
    'ephemeralContainerStatuses:[]#ContainerStatus resize:string resourceClaimStatuses:[]#PodResourceClaimStatus',
    'extendedResourceClaimStatus:#PodExtendedResourceClaimStatus? allocatedResources:{}quantity',
    'resources:#ResourceRequirements? nodeAllocatableResourceClaimStatuses:[]#NodeAllocatableResourceClaimStatus',
  ],
  PodCondition: [
    'type:string! observedGeneration:int64 status:string! lastProbeTime:time! lastTransitionTime:time! reason:string',
    'message:string',
  ],
  ContainerStatus: [
    'name:string! state:#ContainerState! lastState:#ContainerState! ready:bool! restartCount:int32! image:string!',
    'imageID:string! containerID:string started:bool? allocatedResources:{}quantity resources:#ResourceRequirements?',
    'volumeMounts:[]#VolumeMountStatus user:#ContainerUser? allocatedResourcesStatus:[]#ResourceStatus',
    'stopSignal:string?',
  ],
  ContainerState: ['waiting:#ContainerStateWaiting? running:#ContainerStateRunning? terminated:#ContainerStateTerminated?'],
  ContainerStateRunning: ['startedAt:time!'],
  ContainerStateTerminated: [
    'exitCode:int32! signal:int32 reason:string message:string startedAt:time! finishedAt:time! containerID:string',
  ],
  ContainerStateWaiting: ['reason:string message:string'],
  ContainerUser: ['linux:#LinuxContainerUser?'],
  LinuxContainerUser: ['uid:int64! gid:int64! supplementalGroups:[]int64'],
  VolumeMountStatus: ['name:string! mountPath:string! readOnly:bool recursiveReadOnly:string? volumeStatus:#VolumeStatus?'],
  VolumeStatus: ['image:#ImageVolumeStatus?'],
  ImageVolumeStatus: ['imageRef:string'],
  ResourceStatus: ['name:string! resources:[]#ResourceHealth'],
  ResourceHealth: ['resourceID:string! health:string message:string?'],
  HostIP: ['ip:string!'],
  PodIP: ['ip:string!'],
  PodResourceClaimStatus: ['name:string! resourceClaimName:string?'],
  PodExtendedResourceClaimStatus: ['requestMappings:[]#ContainerExtendedResourceRequest! resourceClaimName:string!'],
  ContainerExtendedResourceRequest: ['containerName:string! resourceName:string! requestName:string!'],
  NodeAllocatableResourceClaimStatus: ['resourceClaimName:string! containers:[]string resources:{}quantity!'],
} as const;

/** The parts of a pod, by the names that Kubernetes gives their types. */
export type ManifestPodSpec = NonNullable<WirePod['spec']>;
export type ManifestContainer = ManifestPodSpec['containers'][number];
export type Volume = NonNullable<ManifestPodSpec['volumes']>[number];
export type Probe = NonNullable<ManifestContainer['livenessProbe']>;
export type ResourceRequirements = NonNullable<ManifestContainer['resources']>;
/** Quantities in canonical form, by the name of the resource. */
export type ResourceList = { [name: string]: string };

/** Regular and init containers, with the path of each. */
export function containersOf(spec: ManifestPodSpec): { readonly container: ManifestContainer; readonly path: string }[] {
  const at = (list: readonly ManifestContainer[] | undefined, path: string) =>
    (list ?? []).map((container, index) => ({ container, path: `spec.${path}[${index}]` }));
  return [...at(spec.initContainers, 'initContainers'), ...at(spec.containers, 'containers')];
}
