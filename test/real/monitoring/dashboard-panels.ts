/** One panel: what it shows, and the queries behind it, each with its legend. */
export interface PanelSource {
  readonly title: string;
  readonly description: string;
  /** As Grafana names units. */
  readonly unit: string;
  readonly queries: readonly (readonly [expr: string, legend: string])[];
  readonly isStacked?: true;
}

export interface RowSource {
  readonly title: string;
  readonly panels: readonly PanelSource[];
}

const own = 'job=~"$job",instance=~"$instance"';
const rate = (metric: string, matchers = ''): string => `rate(${metric}{${own}${matchers}}[$__rate_interval])`;
const sum = (by: string, expr: string): string => `sum by (${by}) (${expr})`;
const gauge = (metric: string, matchers = ''): string => `${metric}{${own}${matchers}}`;

function quantiles(metric: string, by = ''): [string, string][] {
  const labels = by === '' ? 'le' : `le, ${by}`;
  const legend = by === '' ? '' : `{{${by}}} `;
  return [0.5, 0.99].map((quantile) => [
    `histogram_quantile(${quantile}, ${sum(labels, rate(`${metric}_bucket`))})`,
    `${legend}p${quantile * 100}`,
  ]);
}

/** What the dashboard shows, from what a user notices first to its causes. */
export const rows: readonly RowSource[] = [
  {
    title: 'Statuses',
    panels: [
      {
        title: 'Oldest change that is not on the apiserver',
        description: 'How long the oldest change waits that could be on the apiserver. Near 0 when all is well.',
        unit: 's',
        queries: [[gauge('pod_status_manager_oldest_unsent_change_age_seconds'), '{{instance}}']],
      },
      {
        title: 'From a change to the apiserver',
        description: 'How long the changes of statuses took.',
        unit: 's',
        queries: quantiles('kubelet_pod_status_sync_duration_seconds'),
      },
      {
        title: 'Pods by where their status stands',
        description: 'in-sync: the newest status is on the apiserver. quarantined: the apiserver refuses it.',
        unit: 'short',
        isStacked: true,
        queries: [[sum('phase', gauge('pod_status_manager_pods')), '{{phase}}']],
      },
      {
        title: 'Statuses set, by what became of them',
        description: 'unchanged: the cache said the same already. refused: a defect of the agent.',
        unit: 'ops',
        queries: [[sum('result', rate('pod_status_manager_status_updates_total')), '{{result}}']],
      },
      {
        title: 'Syncs by outcome',
        description: 'How the syncs of pods ended.',
        unit: 'ops',
        queries: [[sum('outcome', rate('pod_status_manager_syncs_total')), '{{outcome}}']],
      },
      {
        title: 'Failures, repairs and dropped hints',
        description: 'Failed syncs by class, pods that another writer had changed, and hints that found the channel full.',
        unit: 'ops',
        queries: [
          [sum('error_class', rate('pod_status_manager_retries_total')), '{{error_class}}'],
          [sum('job', rate('pod_status_manager_repairs_total')), 'repairs'],
          [sum('job', rate('pod_status_manager_hints_dropped_total')), 'dropped hints'],
        ],
      },
    ],
  },
  {
    title: 'Requests',
    panels: [
      {
        title: 'Requests by result',
        description: 'Requests of the status manager.',
        unit: 'reqps',
        queries: [[sum('verb, result', rate('pod_status_manager_requests_total')), '{{verb}} {{result}}']],
      },
      {
        title: 'Duration of requests',
        description: 'Until the answer, or until the request was given up.',
        unit: 's',
        queries: quantiles('pod_status_manager_request_duration_seconds', 'verb'),
      },
      {
        title: 'Requests in flight',
        description: 'Requests that have not settled.',
        unit: 'short',
        queries: [[gauge('pod_status_manager_requests_in_flight'), '{{instance}}']],
      },
      {
        title: 'Waits of the whole client',
        description: 'For the rate limiter, and after the apiserver has asked for a pause.',
        unit: 's',
        queries: [
          ...quantiles('pod_status_manager_rate_limiter_wait_seconds'),
          [gauge('pod_status_manager_pause_remaining_seconds'), 'pause of {{instance}}'],
        ],
      },
    ],
  },
  {
    title: 'What is heard of the apiserver',
    panels: [
      {
        title: 'Silence',
        description: 'How long ago the apiserver was last heard from. Bookmarks keep it near a minute.',
        unit: 's',
        queries: [[gauge('pod_status_manager_reflector_silence_seconds'), '{{instance}} {{reflector}}']],
      },
      {
        title: 'Watches that began again, by reason',
        description: 'ended: in good order, every few minutes.',
        unit: 'ops',
        queries: [[sum('reflector, reason', rate('pod_status_manager_reflector_restarts_total')), '{{reflector}} {{reason}}']],
      },
      {
        title: 'Objects in stores',
        description: 'Pods of the node, and whatever else is watched.',
        unit: 'short',
        queries: [[gauge('pod_status_manager_reflector_objects'), '{{instance}} {{reflector}}']],
      },
    ],
  },
  {
    title: 'The node',
    panels: [
      {
        title: 'Age of the Lease',
        description: 'Below ten seconds when all is well. Kubernetes gives the node up after 40.',
        unit: 's',
        queries: [[gauge('pod_status_manager_lease_age_seconds'), '{{instance}}']],
      },
      {
        title: 'Renewals and checks that failed',
        description: 'Of the Lease and of the node object, by class.',
        unit: 'ops',
        queries: [
          [sum('result', rate('pod_status_manager_lease_renewals_total', ',result!="ok"')), 'Lease {{result}}'],
          [sum('result', rate('pod_status_manager_node_checks_total', ',result!="ok"')), 'node {{result}}'],
        ],
      },
      {
        title: 'Pods of the workers',
        description: 'Pods that the workers know, by what is done for them.',
        unit: 'short',
        isStacked: true,
        queries: [[sum('lifecycle, config', gauge('kubelet_working_pods')), '{{lifecycle}} {{config}}']],
      },
      {
        title: 'Duration of a sync of a pod',
        description: 'From the update to the end of the call that it led to.',
        unit: 's',
        queries: quantiles('kubelet_pod_worker_duration_seconds', 'operation_type'),
      },
      {
        title: 'Lateness of the work queue',
        description: 'How long the first pod has been due. 0 when the sync loop keeps up.',
        unit: 's',
        queries: [[gauge('pod_status_manager_worker_queue_lateness_seconds'), '{{instance}}']],
      },
      {
        title: 'Failed calls of the pod syncer',
        description: 'They are repeated.',
        unit: 'ops',
        queries: [[sum('state', rate('pod_status_manager_worker_retries_total')), '{{state}}']],
      },
    ],
  },
  {
    title: 'Provider, probes and mirror pods',
    panels: [
      {
        title: 'Calls of the provider',
        description: 'By method and result.',
        unit: 'ops',
        queries: [[sum('method, result', rate('pod_status_manager_provider_calls_total')), '{{method}} {{result}}']],
      },
      {
        title: 'Duration of calls of the provider',
        description: 'Until the answer, or until it was given up.',
        unit: 's',
        queries: quantiles('pod_status_manager_provider_call_duration_seconds', 'method'),
      },
      {
        title: 'From the first sight of a pod until it runs',
        description: 'Pods of a provider.',
        unit: 's',
        queries: quantiles('kubelet_pod_start_duration_seconds'),
      },
      {
        title: 'Probes by result',
        description: 'Of all containers.',
        unit: 'ops',
        queries: [[sum('probe_type, result', rate('prober_probe_total')), '{{probe_type}} {{result}}']],
      },
      {
        title: 'Requests for mirror pods',
        description: 'By what was asked, and how it ended.',
        unit: 'ops',
        queries: [[sum('verb, result', rate('pod_status_manager_mirror_pod_requests_total')), '{{verb}} {{result}}']],
      },
      {
        title: 'Containers that ended, by reason',
        description: 'As their statuses say.',
        unit: 'ops',
        queries: [[sum('reason', rate('kubelet_terminated_containers_total')), '{{reason}}']],
      },
    ],
  },
  {
    title: 'Fleet',
    panels: [
      {
        title: 'Shards by member',
        description: 'The shards whose nodes run in each process.',
        unit: 'short',
        isStacked: true,
        queries: [[gauge('pod_status_manager_fleet_shards', ',state="owned"'), '{{instance}}']],
      },
      {
        title: 'Members, and shards without an owner',
        description: 'Nobody serves the nodes of a shard without an owner. 0 but for the seconds after a member has died.',
        unit: 'short',
        queries: [
          [gauge('pod_status_manager_fleet_members'), 'members, as {{instance}} sees it'],
          [gauge('pod_status_manager_fleet_unowned_shards'), 'shards without an owner, as {{instance}} sees it'],
        ],
      },
      {
        title: 'Nodes by state',
        description: 'failed: the last start has failed, and is tried again.',
        unit: 'short',
        isStacked: true,
        queries: [[sum('state', gauge('pod_status_manager_fleet_nodes')), '{{state}}']],
      },
      {
        title: 'Duration of hand-overs',
        description: 'out: until the Lease was given up. in: from the acquired Lease until its nodes run.',
        unit: 's',
        queries: quantiles('pod_status_manager_fleet_handover_duration_seconds', 'direction'),
      },
      {
        title: 'Shards that moved',
        description: 'run_out and lost: a member has died, or could not renew.',
        unit: 'ops',
        queries: [
          [sum('reason', rate('pod_status_manager_fleet_shards_gained_total')), 'gained {{reason}}'],
          [sum('reason', rate('pod_status_manager_fleet_shards_ended_total')), 'ended {{reason}}'],
          [gauge('pod_status_manager_fleet_shards', ',state="moving"'), 'on the move at {{instance}}'],
        ],
      },
      {
        title: 'Writes of Leases, and refused writes',
        description: 'A refused write was held back at the last moment, because its shard may be owned elsewhere.',
        unit: 'ops',
        queries: [
          [sum('kind, result', rate('pod_status_manager_fleet_lease_writes_total')), '{{kind}} {{result}}'],
          [sum('instance', rate('pod_status_manager_fleet_refused_writes_total')), 'refused at {{instance}}'],
        ],
      },
    ],
  },
  {
    title: 'The process',
    panels: [
      {
        title: 'Delay of the event loop',
        description: 'By how much timers came too late.',
        unit: 's',
        queries: [
          [gauge('pod_status_manager_event_loop_delay_seconds', ',percentile=~"99|100"'), '{{instance}} p{{percentile}}'],
        ],
      },
      {
        title: 'Duration of a batch',
        description: 'One look at every pod. The event loop has its turn every 200 pods.',
        unit: 's',
        queries: quantiles('pod_status_manager_batch_duration_seconds'),
      },
    ],
  },
];
