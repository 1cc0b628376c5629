import type { ExtenderOptions } from '../extenders/extender-options.ts';

/** Nodes have to share the values of these labels with the other pods of the pod's service. */
export interface ServiceAffinityArgument {
  /** The argument of the predicate. */
  readonly serviceAffinity: {
    /** Names of labels of nodes. */
    readonly labels: readonly string[];
  };
}

/** Nodes must have these labels (`presence` is true) or must not have them, whatever the value. */
export interface LabelsPresenceArgument {
  /** The argument of the predicate. */
  readonly labelsPresence: {
    /** Names of labels of nodes. */
    readonly labels: readonly string[];
    /** True: a node has to have all of them. False: it must have none. */
    readonly presence: boolean;
  };
}

/** The pods of a service are spread over the values of this label. */
export interface ServiceAntiAffinityArgument {
  /** The argument of the priority. */
  readonly serviceAntiAffinity: {
    /** The name of a label of nodes. */
    readonly label: string;
  };
}

/** Nodes with the label (`presence` is true), or without it, are preferred. */
export interface LabelPreferenceArgument {
  /** The argument of the priority. */
  readonly labelPreference: {
    /** The name of a label of nodes. */
    readonly label: string;
    /** True: nodes with the label are better. False: nodes without it. */
    readonly presence: boolean;
  };
}

/** A point of the line between how full a node is and its score. */
export interface UtilizationPoint {
  /** In percent, 0 to 100. */
  readonly utilization: number;
  /** From 0 to 10. */
  readonly score: number;
}

/** A resource, and how much it counts beside others. */
export interface WeightedResource {
  /** `cpu`, `memory`, `ephemeral-storage` or an extended resource. */
  readonly name: string;
  /** From 1 up. */
  readonly weight: number;
}

/** Scores how full a node would be. Without resources every node scores 0. */
export interface RequestedToCapacityRatioArgument {
  /** The argument of the priority. */
  readonly requestedToCapacityRatioArguments: {
    /** By rising utilization. */
    readonly shape: readonly UtilizationPoint[];
    /** What is counted, and how much. */
    readonly resources?: readonly WeightedResource[];
  };
}

/** A predicate by its name; with an argument it is one of the file's own, and its name is free. */
export interface PredicatePolicy {
  /** The name of a predicate, built in or registered; a name of your choice beside an argument. */
  readonly name: string;
  /** What a configurable predicate checks. Default: none, and the name says it all. */
  readonly argument?: ServiceAffinityArgument | LabelsPresenceArgument;
}

/** A priority by its name; with an argument it is one of the file's own, and its name is free. */
export interface PriorityPolicy {
  /** The name of a priority, built in or registered; a name of your choice beside an argument. */
  readonly name: string;
  /** A whole number from 1 to 2147483647. */
  readonly weight: number;
  /** What a configurable priority scores by. Default: none, and the name says it all. */
  readonly argument?: ServiceAntiAffinityArgument | LabelPreferenceArgument | RequestedToCapacityRatioArgument;
}

/** An extender as policy files have it: the members of {@link ExtenderOptions}, but for the two that are here. */
export interface PolicyExtender extends Omit<ExtenderOptions, 'httpTimeout' | 'enableHTTPS'> {
  /** As `enableHTTPS` of an extender's options. */
  readonly enableHttps?: boolean;
  /** How long an answer may take, in nanoseconds. Default, and for 0: five seconds. */
  readonly httpTimeout?: number;
}

/** A policy file of the classic scheduler: kind `Policy`, apiVersion `v1`, as Kubernetes v1.22 and earlier read it. */
export interface Policy {
  /** Default: `Policy`. */
  readonly kind?: 'Policy';
  /** Default: `v1`. Both mean the same. */
  readonly apiVersion?: 'v1' | 'kubescheduler.config.k8s.io/v1';
  /** Which nodes a pod may go to. Absent: the default ones. Empty: only those that always run. */
  readonly predicates?: readonly PredicatePolicy[];
  /** Which of them it had better go to. Absent: the default ones. Empty: none, and every node scores 1. */
  readonly priorities?: readonly PriorityPolicy[];
  /** Programs behind HTTP that have a say in where pods go. Default: none. */
  readonly extenders?: readonly PolicyExtender[];
  /** How much the required affinity of running pods to this pod counts in `InterPodAffinityPriority`: 0 to 100, default 1. */
  readonly hardPodAffinitySymmetricWeight?: number;
  /** True: a node that fails is held against all predicates, and all reasons are told. Default false: the first one ends it. */
  readonly alwaysCheckAllPredicates?: boolean;
}
