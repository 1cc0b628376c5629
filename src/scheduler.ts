/**
 * A scheduler: chooses nodes for pods, in memory or in the place of a cluster's kube-scheduler; by plugins, or by the
 * predicates and priorities of a policy file.
 *
 * @module pod-status-manager/scheduler
 */
import './base/node-version.ts';

export type { HostPort } from './api/pod/host-ports.ts';
export type { PodProblem, Problem, ProblemReport } from './base/problem.ts';
export type { AlgorithmProvider } from './scheduler/classic/algorithm-registry.ts';
export { AlgorithmRegistry, type PredicateFactory, type PriorityFactory } from './scheduler/classic/algorithm-registry.ts';
export type { Predicate, Priority } from './scheduler/classic/plugins/own-algorithms.ts';
export type { PodCounting } from './scheduler/classic/pod-counting.ts';
export type {
  LabelPreferenceArgument,
  LabelsPresenceArgument,
  Policy,
  PolicyExtender,
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
export { readPolicy } from './scheduler/classic/read-policy.ts';
export { LeaderElector } from './scheduler/cluster/leader-elector.ts';
export type { LeaderElectorOptions } from './scheduler/cluster/leader-options.ts';
export type { ClusterSchedulerOptions, LeaderElectionOptions } from './scheduler/cluster-scheduler.ts';
export { ClusterScheduler } from './scheduler/cluster-scheduler.ts';
export {
  type ConfigurationChanges,
  type ConfiguredLeaderElection,
  type ConfiguredOptions,
  readSchedulerConfiguration,
  type SchedulerConfiguration,
} from './scheduler/config/scheduler-configuration.ts';
export { ExtenderError, type ExtenderStep } from './scheduler/extenders/extender-error.ts';
export type { ExtenderManagedResource, ExtenderOptions, ExtenderTlsConfig } from './scheduler/extenders/extender-options.ts';
export type { PreemptionCandidate } from './scheduler/extenders/extender-wire.ts';
export type { NamedResource, ObjectHandler, ObjectLister } from './scheduler/framework/cluster-objects.ts';
export { CycleState, type StateData, type StateKey, stateKey } from './scheduler/framework/cycle-state.ts';
export { type Diagnosis, FitError } from './scheduler/framework/fit-error.ts';
export {
  type ChangeAction,
  type ClusterEventWithHint,
  type EventAction,
  type EventResource,
  type EvictAction,
  type ExtensionPoint,
  type NarrowCandidates,
  type NodeFailures,
  type NominatedPods,
  type PermitAnswer,
  type Plugin,
  type PluginFactory,
  type PluginHandle,
  type PluginRejection,
  type PostFilterAction,
  type PostFilterAnswer,
  type PreFilterAnswer,
  type ProfilePlugins,
  type QueuedPod,
  type QueueingHint,
  type Rejection,
  type RejectionCode,
  type SharedKey,
  sharedKey,
} from './scheduler/framework/plugin.ts';
export { PluginError } from './scheduler/framework/plugin-error.ts';
export type { PodStatusChange, SchedulerClient, SchedulingEvent } from './scheduler/framework/scheduler-client.ts';
export type { ImageState, NodeInfo, Snapshot, TrialNodeInfo } from './scheduler/nodes/node-info.ts';
export type { GroupedPods, PodGroup, PodsByNode, PreferenceGroup, TermGroup } from './scheduler/nodes/pod-index.ts';
export type { AffinityTerm, PodInfo, WeightedAffinityTerm } from './scheduler/nodes/pod-info.ts';
export type { AllocatableAmounts, NonZeroAmounts, ResourceAmounts } from './scheduler/nodes/resource.ts';
export { inTreePlugins, type PluginRegistry } from './scheduler/profile/plugin-registry.ts';
export type {
  EnabledPlugin,
  PluginSet,
  ProfileOptions,
  ProfilePluginsOptions,
} from './scheduler/profile/profile-options.ts';
export type {
  ExtenderWait,
  NodeVerdict,
  PodSchedulingExplanation,
  PodSchedulingState,
} from './scheduler/reports/explain-pod.ts';
export type { AwaitedVictim } from './scheduler/reports/pod-problem.ts';
export { Scheduler } from './scheduler/scheduler.ts';
export type { SchedulerOptions } from './scheduler/scheduler-options.ts';
export type {
  ClusterSchedulerSnapshot,
  LeadershipReport,
  SchedulerSnapshot,
  SchedulerStats,
} from './scheduler/scheduler-reports.ts';
export { SchedulerServer } from './scheduler/serving/scheduler-server.ts';
export type {
  SchedulerHealthCheck,
  SchedulerServerOptions,
  ServedIdentity,
} from './scheduler/serving/scheduler-server-options.ts';
