import { requestBuckets, resultLabel, type WrittenDefinition } from './metric-definition.ts';

const part = 'NodeFleet';
const origin = 'own';

/** What a member of a fleet measures. */
export const fleetMetricDefinitions = {
  pod_status_manager_fleet_members: {
    type: 'gauge',
    help: 'Members of the fleet whose Lease is fresh, as this member sees it, itself included. While it does not hear of the Leases: as it saw them last.',
    unit: '{member}',
    labels: {},
    part,
    origin,
  },
  pod_status_manager_fleet_shards: {
    type: 'gauge',
    help: 'Shards of this member.',
    unit: '{shard}',
    labels: {
      state: {
        help: '`owned`: its nodes run here; `moving`: it comes to this member, or goes from it',
        values: ['owned', 'moving'],
      },
    },
    part,
    origin,
  },
  pod_status_manager_fleet_unowned_shards: {
    type: 'gauge',
    help: 'Shards of the whole fleet that nobody owns, as this member sees it: nobody serves their nodes. 0 while it does not hear of the Leases.',
    unit: '{shard}',
    labels: {},
    part,
    origin,
  },
  pod_status_manager_fleet_nodes: {
    type: 'gauge',
    help: 'Nodes of the shards of this member.',
    unit: '{node}',
    labels: {
      state: {
        help: '`failed`: its last start has failed, and is tried again',
        values: ['running', 'starting', 'stopping', 'failed'],
      },
    },
    part,
    origin,
  },
  pod_status_manager_fleet_handover_duration_seconds: {
    type: 'histogram',
    help: 'How long it took to give a shard to another member, or to start the nodes of one that came.',
    unit: 's',
    labels: {
      direction: {
        help: '`out`: from the decision until the Lease was given up; `in`: from the acquired Lease until its nodes run',
        values: ['out', 'in'],
      },
    },
    buckets: requestBuckets,
    part,
    origin,
  },
  pod_status_manager_fleet_shards_gained_total: {
    type: 'counter',
    help: 'Shards that this member has taken.',
    unit: '{shard}',
    labels: {
      reason: {
        help: '`free`: nobody has owned it; `handed_over`: its owner gave it up; `run_out`: its owner did not renew its Lease',
        values: ['free', 'handed_over', 'run_out'],
      },
    },
    part,
    origin,
  },
  pod_status_manager_fleet_shards_ended_total: {
    type: 'counter',
    help: 'Shards that this member owns no more.',
    unit: '{shard}',
    labels: {
      reason: {
        help: '`handed_over`: this member gave it up; `lost`: its Lease could not be renewed in time, or another member has it',
        values: ['handed_over', 'lost'],
      },
    },
    part,
    origin,
  },
  pod_status_manager_fleet_refused_writes_total: {
    type: 'counter',
    help: 'Writes and calls of the provider that were held back at the last moment, because this member may own their shard no more.',
    unit: '{write}',
    labels: {},
    part,
    origin,
  },
  pod_status_manager_fleet_lease_writes_total: {
    type: 'counter',
    help: 'Writes of Leases of the fleet, by how they ended. A conflict is another member that was faster.',
    unit: '{write}',
    labels: { kind: { help: 'whose Lease it is', values: ['member', 'shard'] }, result: resultLabel },
    part,
    origin,
  },
} as const satisfies Record<string, WrittenDefinition>;
