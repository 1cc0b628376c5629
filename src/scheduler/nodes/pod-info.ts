import type { HostPort } from '../../placement/host-ports.ts';
import type { WirePod } from '../../wire/types.ts';
import type { NonZeroAmounts, ResourceAmounts } from './resource.ts';

/** One term of a pod's affinity to other pods, its selectors parsed. */
export interface AffinityTerm {
  /** Terms with the same key speak of the same pods. */
  readonly key: string;
  readonly topologyKey: string;
  /**
   * True where the term speaks of `pod`, which is in a namespace with these labels. `undefined`: nothing is known of the
   * namespace; then only a term that names it, or one with an empty namespace selector, speaks of its pods.
   */
  matches(pod: WirePod, namespaceLabels: Readonly<Record<string, string>> | undefined): boolean;
}

export interface WeightedAffinityTerm extends AffinityTerm {
  readonly weight: number;
}

/** A pod and what the plugins need of it, worked out once. Never changed: another version of the pod is another PodInfo. */
export interface PodInfo {
  readonly pod: WirePod;
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  /** `NAMESPACE/NAME`. */
  readonly key: string;
  /** Pods with the same key have one namespace and the same labels, and are all being deleted or all not. */
  readonly groupKey: string;
  /** 0 where the pod has none. */
  readonly priority: number;
  readonly requests: ResourceAmounts;
  readonly nonZeroRequests: NonZeroAmounts;
  readonly hostPorts: readonly HostPort[];
  /** True where the pod says anything of other pods. */
  readonly hasAffinity: boolean;
  readonly requiredAffinityTerms: readonly AffinityTerm[];
  readonly requiredAntiAffinityTerms: readonly AffinityTerm[];
  readonly preferredAffinityTerms: readonly WeightedAffinityTerm[];
  readonly preferredAntiAffinityTerms: readonly WeightedAffinityTerm[];
  /** Why the affinity to other pods cannot be read, where it breaks a rule; it counts as none then. */
  readonly affinityProblem: string | undefined;
}
