/**
 * A scheduler: chooses nodes for pods, in memory or in the place of a cluster's kube-scheduler.
 *
 * @module pod-status-manager/scheduler
 */
import './node-version.ts';

export { ClusterScheduler } from './scheduler/cluster-scheduler.ts';
export type { ClusterSchedulerOptions, LeaderElectionOptions } from './scheduler/cluster-scheduler-options.ts';
export type { PodStatusChange, SchedulerClient, SchedulingEvent } from './scheduler/framework/scheduler-client.ts';
export { LeaderElector } from './scheduler/leader/leader-elector.ts';
export type { LeaderElectorOptions } from './scheduler/leader/leader-options.ts';
export { Scheduler, type SchedulerStats } from './scheduler/scheduler.ts';
export type { SchedulerOptions } from './scheduler/scheduler-options.ts';
