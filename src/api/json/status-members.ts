// Which members a pod's status has: k8s.io/api v0.36.3 (Kubernetes 1.36), core/v1/types.go. A newer apiserver may have more.

/** The members of a pod's status. */
export const podStatusMembers: ReadonlySet<string> = new Set([
  'allocatedResources',
  'conditions',
  'containerStatuses',
  'ephemeralContainerStatuses',
  'extendedResourceClaimStatus',
  'hostIP',
  'hostIPs',
  'initContainerStatuses',
  'message',
  'nodeAllocatableResourceClaimStatuses',
  'nominatedNodeName',
  'observedGeneration',
  'phase',
  'podIP',
  'podIPs',
  'qosClass',
  'reason',
  'resize',
  'resourceClaimStatuses',
  'resources',
  'startTime',
]);

/** The members of one of its conditions. */
export const podConditionMembers: ReadonlySet<string> = new Set([
  'lastProbeTime',
  'lastTransitionTime',
  'message',
  'observedGeneration',
  'reason',
  'status',
  'type',
]);

/** The members of the status of one container. */
export const containerStatusMembers: ReadonlySet<string> = new Set([
  'allocatedResources',
  'allocatedResourcesStatus',
  'containerID',
  'image',
  'imageID',
  'lastState',
  'name',
  'ready',
  'resources',
  'restartCount',
  'started',
  'state',
  'stopSignal',
  'user',
  'volumeMounts',
]);

/** The lists of container statuses. */
export const containerStatusLists = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const;

/** The members that hold a time, wherever they stand. */
export const timeMembers: ReadonlySet<string> = new Set([
  'startTime',
  'lastProbeTime',
  'lastTransitionTime',
  'startedAt',
  'finishedAt',
]);

/** The members of an address in `podIPs` and `hostIPs`. */
export const podIPMembers: ReadonlySet<string> = new Set(['ip']);

/** The lists of addresses. */
export const addressLists = ['podIPs', 'hostIPs'] as const;

/** The states of a container, of which it has one at most. */
export const stateKinds: ReadonlySet<string> = new Set(['waiting', 'running', 'terminated']);

/** Each state of a container, with its members. */
export const stateMembers: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['waiting', new Set(['reason', 'message'])],
  ['running', new Set(['startedAt'])],
  ['terminated', new Set(['containerID', 'exitCode', 'finishedAt', 'message', 'reason', 'signal', 'startedAt'])],
]);
