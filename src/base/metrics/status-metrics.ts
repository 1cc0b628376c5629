import { errorClassLabel, requestBuckets, resultLabel } from './label-values.ts';
import type { WrittenDefinition } from './metric-definition.ts';

const part = 'StatusManager';
const verb = { help: 'what was asked of the apiserver', values: ['get', 'patch', 'delete'] } as const;
const phases = [
  ...(['not-started', 'in-sync', 'terminal-phase-held-back', 'pending', 'in-flight', 'paused'] as const),
  ...(['backing-off', 'quarantined', 'gone', 'no-mirror-pod', 'deleting'] as const),
] as const;
const outcomes = [
  ...(['patched', 'unchanged', 'deleted', 'deleting', 'recreated', 'gone', 'no-mirror-pod', 'waits'] as const),
  ...(['quarantined', 'failed', 'aborted'] as const),
] as const;

/** What a status manager measures. */
export const statusMetrics = {
  kubelet_pod_status_sync_duration_seconds: {
    type: 'histogram',
    help: 'From the oldest change of a pod status that the apiserver has not, until the apiserver has it.',
    unit: 's',
    labels: {},
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 20, 30, 45, 60],
    part,
    origin: 'kubelet',
  },
  kubelet_terminated_containers_total: {
    type: 'counter',
    help: 'Containers that have ended.',
    unit: '{container}',
    labels: {
      container_type: {
        help: 'which list of the pod it is in',
        values: ['container', 'init_container', 'ephemeral_container'],
      },
      exit_code: { help: 'its exit code' },
      reason: { help: 'why it ended, as its status says' },
    },
    part,
    origin: 'kubelet',
  },
  kubelet_pod_pending_resizes: {
    type: 'gauge',
    help: 'Pods with a resize that has not begun.',
    unit: '{pod}',
    labels: { reason: { help: 'why it has not, such as Deferred and Infeasible' } },
    part,
    origin: 'kubelet',
  },
  kubelet_pod_in_progress_resizes: {
    type: 'gauge',
    help: 'Pods with a resize that goes on.',
    unit: '{pod}',
    labels: {},
    part,
    origin: 'kubelet',
  },
  pod_status_manager_status_updates_total: {
    type: 'counter',
    help: 'Statuses that the agent has set, and what became of them in the cache.',
    unit: '{update}',
    labels: {
      result: {
        help: '`unchanged`: the cache said the same already; `refused`: the container states cannot follow the cached ones',
        values: ['stored', 'unchanged', 'refused'],
      },
    },
    part,
    origin: 'own',
  },
  pod_status_manager_pods: {
    type: 'gauge',
    help: 'Pods with a status, by where the newest one stands.',
    unit: '{pod}',
    labels: { phase: { help: 'as `explain` names it', values: phases } },
    part,
    origin: 'own',
  },
  pod_status_manager_oldest_unsent_change_age_seconds: {
    type: 'gauge',
    help: 'How long the oldest change waits that could be on the apiserver and is not; 0 when there is none.',
    unit: 's',
    labels: {},
    part,
    origin: 'own',
  },
  pod_status_manager_channel_depth: {
    type: 'gauge',
    help: 'Hints that wait in the channel: pods that may have a new status.',
    unit: '{hint}',
    labels: {},
    part,
    origin: 'own',
  },
  pod_status_manager_channel_capacity: {
    type: 'gauge',
    help: 'How many hints the channel holds.',
    unit: '{hint}',
    labels: {},
    part,
    origin: 'own',
  },
  pod_status_manager_hints_dropped_total: {
    type: 'counter',
    help: 'Hints that found the channel full. No status is lost: a scan of all pods follows.',
    unit: '{hint}',
    labels: {},
    part,
    origin: 'own',
  },
  pod_status_manager_requests_total: {
    type: 'counter',
    help: 'Requests of the status manager that have ended, or were given up.',
    unit: '{request}',
    labels: { verb, result: resultLabel },
    part,
    origin: 'own',
  },
  pod_status_manager_request_duration_seconds: {
    type: 'histogram',
    help: 'How long a request took until its answer, or until it was given up.',
    unit: 's',
    labels: { verb },
    buckets: requestBuckets,
    part,
    origin: 'own',
  },
  pod_status_manager_requests_in_flight: {
    type: 'gauge',
    help: 'Requests that the pod client has not ended, those that were given up included.',
    unit: '{request}',
    labels: {},
    part,
    origin: 'own',
  },
  pod_status_manager_syncs_total: {
    type: 'counter',
    help: 'Syncs of a pod that have ended, by how they ended.',
    unit: '{sync}',
    labels: {
      outcome: {
        help: '`unchanged`: no PATCH was needed; `deleting`: finalizers hold the pod; `recreated`: another pod has its name; `waits`: the copy that it waits on is still the same; `quarantined`: the apiserver refuses the status',
        values: outcomes,
      },
    },
    part,
    origin: 'own',
  },
  pod_status_manager_retries_total: {
    type: 'counter',
    help: 'Failed syncs of a pod that are tried again by themselves.',
    unit: '{sync}',
    labels: { error_class: errorClassLabel },
    part,
    origin: 'own',
  },
  pod_status_manager_repairs_total: {
    type: 'counter',
    help: 'Pods that are sent because another writer has changed what the apiserver had taken from us.',
    unit: '{pod}',
    labels: {},
    part,
    origin: 'own',
  },
  pod_status_manager_pauses_total: {
    type: 'counter',
    help: 'Failures that made the whole client wait.',
    unit: '{pause}',
    labels: { error_class: { help: 'what the failure was', values: ['throttled', 'unauthorized'] } },
    part,
    origin: 'own',
  },
  pod_status_manager_pause_remaining_seconds: {
    type: 'gauge',
    help: 'How long the whole client still waits; 0 when it does not.',
    unit: 's',
    labels: {},
    part,
    origin: 'own',
  },
  pod_status_manager_rate_limiter_wait_seconds: {
    type: 'histogram',
    help: 'How long a request, or the next pod, waited for the rate limiter of the options.',
    unit: 's',
    labels: {},
    buckets: requestBuckets,
    part,
    origin: 'own',
  },
  pod_status_manager_batch_duration_seconds: {
    type: 'histogram',
    help: 'How long a batch took: one look at every pod.',
    unit: 's',
    labels: {},
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    part,
    origin: 'own',
  },
} as const satisfies Record<string, WrittenDefinition>;
