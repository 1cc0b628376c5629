/**
 * A fleet: thousands of virtual nodes that several processes share. Each node is run by one process at a time, by the Leases of the cluster,
 * and moves when a process comes, goes or fails.
 *
 * @module pod-status-manager/fleet
 */
import './base/node-version.ts';

export type { Problem, ProblemReport } from './base/problem.ts';
export type {
  FleetMemberReport,
  FleetNodeCounts,
  FleetNodeExplanation,
  FleetNodeReport,
  FleetNodeState,
  FleetShardReport,
  FleetShardState,
  FleetSnapshot,
  FleetSnapshotOptions,
  StopFleetOptions,
  StoppedFleet,
} from './fleet/fleet-reports.ts';
export { NodeFleet } from './fleet/node-fleet.ts';
export type { FleetRequestLimits, NodeFleetOptions } from './fleet/node-fleet-options.ts';
export type {
  FleetNode,
  FleetNodeChange,
  FleetNodeOptions,
  FleetNodes,
  SelectedNodes,
} from './fleet/nodes/fleet-node-options.ts';
export { shardOf } from './fleet/placement.ts';
