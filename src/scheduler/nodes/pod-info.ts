import type { WirePod } from '../../api/json/types.ts';
import type { HostPort } from '../../api/pod/host-ports.ts';
import type { NonZeroAmounts, ResourceAmounts } from './resource.ts';

/** One term of a pod's affinity to other pods, its selectors parsed. */
export interface AffinityTerm {
  /** Terms with the same key speak of the same pods. */
  readonly key: string;
  /** The label of nodes whose value says which nodes count as one place. */
  readonly topologyKey: string;
  /**
   * True where the term speaks of `pod`, which is in a namespace with these labels. `undefined`: nothing is known of the
   * namespace; then only a term that names it, or one with an empty namespace selector, speaks of its pods.
   */
  matches(pod: WirePod, namespaceLabels: Readonly<Record<string, string>> | undefined): boolean;
}

/** A term of a preference: pods at the same place make it better or worse. */
export interface WeightedAffinityTerm extends AffinityTerm {
  /** How much the term counts: 1 to 100. */
  readonly weight: number;
}

/** A pod and what the plugins need of it, worked out once. Never changed: another version of the pod is another PodInfo. */
export interface PodInfo {
  /** The Pod object, as the apiserver has it. */
  readonly pod: WirePod;
  /** `metadata.uid` of the pod. */
  readonly uid: string;
  /** `metadata.name` of the pod. */
  readonly name: string;
  /** `metadata.namespace` of the pod. */
  readonly namespace: string;
  /** `NAMESPACE/NAME`. */
  readonly key: string;
  /** Pods with the same key have one namespace and the same labels, and are all being deleted or all not. */
  readonly groupKey: string;
  /** 0 where the pod has none. */
  readonly priority: number;
  /** What the pod asks for, its init containers and overhead counted. */
  readonly requests: ResourceAmounts;
  /** The same, where no container counts for nothing. */
  readonly nonZeroRequests: NonZeroAmounts;
  /** The ports of the node that the pod takes. */
  readonly hostPorts: readonly HostPort[];
  /** True where the pod says anything of other pods. */
  readonly hasAffinity: boolean;
  /** The pods that there have to be at the place of this one. */
  readonly requiredAffinityTerms: readonly AffinityTerm[];
  /** The pods that there must not be at the place of this one. */
  readonly requiredAntiAffinityTerms: readonly AffinityTerm[];
  /** The pods that make a place better. */
  readonly preferredAffinityTerms: readonly WeightedAffinityTerm[];
  /** The pods that make a place worse. */
  readonly preferredAntiAffinityTerms: readonly WeightedAffinityTerm[];
  /** Why the affinity to other pods cannot be read, where it breaks a rule; it counts as none then. */
  readonly affinityProblem: string | undefined;
}
