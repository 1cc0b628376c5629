// The fields of the types of a pod's spec, from k8s.io/api/core/v1 types.go, v0.36.3. What a field's text means: field-type.ts.

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
  ResourceRequirements: ['limits:{}quantity requests:{}quantity claims:[]#ResourceClaim'],
  ResourceClaim: ['name:string! request:string'],
} as const;
