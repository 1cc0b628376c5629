/**
 * A scheduler: chooses nodes for pods, in memory or in the place of a cluster's kube-scheduler.
 *
 * @module pod-status-manager/scheduler
 */
import './node-version.ts';

export { AlgorithmRegistry, type PredicateFactory, type PriorityFactory } from './scheduler/classic/algorithm-registry.ts';
export type { Predicate, Priority } from './scheduler/classic/plugins/own-algorithms.ts';
export type {
  LabelPreferenceArgument,
  LabelsPresenceArgument,
  Policy,
  PredicatePolicy,
  PriorityPolicy,
  RequestedToCapacityRatioArgument,
  ServiceAffinityArgument,
  ServiceAntiAffinityArgument,
  UtilizationPoint,
  WeightedResource,
} from './scheduler/classic/policy.ts';
export type { ServiceSpreading } from './scheduler/classic/policy-plan.ts';
export {
  type PolicyProfileOptions,
  type ProfileMaker,
  policyProfile,
  providerProfile,
} from './scheduler/classic/policy-profile.ts';
export type { AlgorithmProvider } from './scheduler/classic/providers.ts';
export { readPolicy } from './scheduler/classic/read-policy.ts';
export { ClusterScheduler } from './scheduler/cluster-scheduler.ts';
export type { ClusterSchedulerOptions, LeaderElectionOptions } from './scheduler/cluster-scheduler-options.ts';
export type { PodStatusChange, SchedulerClient, SchedulingEvent } from './scheduler/framework/scheduler-client.ts';
export { LeaderElector } from './scheduler/leader/leader-elector.ts';
export type { LeaderElectorOptions } from './scheduler/leader/leader-options.ts';
export { Scheduler, type SchedulerStats } from './scheduler/scheduler.ts';
export type { SchedulerOptions } from './scheduler/scheduler-options.ts';
