// The fields of the types of what the scheduler reads, from k8s.io/api/core/v1 types.go, v0.36.3. What a field's text means: field-type.ts.

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
