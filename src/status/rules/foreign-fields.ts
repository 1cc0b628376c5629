/** Members of a pod's status that other components write: the apiserver's value stays, and a difference does not count. */
export const foreignFields = [
  'resourceClaimStatuses',
  'extendedResourceClaimStatus',
  'nodeAllocatableResourceClaimStatuses',
] as const;
