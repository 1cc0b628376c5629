// The fields of the types of a pod's status, from k8s.io/api/core/v1 types.go, v0.36.3. What a field's text means: field-type.ts.

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
