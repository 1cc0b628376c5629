// The fields of the types of metadata, and what several parts of a pod share, from k8s.io/api/core/v1 types.go, v0.36.3. What a field's text means: field-type.ts.

export const metadataTypes = {
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
