import { defaultBuckets } from './label-values.ts';
import type { WrittenDefinition } from './metric-definition.ts';

const workersPart = 'PodWorkers';
const state = { help: 'what the worker does for the pod', values: ['sync', 'terminating', 'terminated'] } as const;

/** What the pod workers measure. */
export const workerMetrics = {
  kubelet_pod_worker_duration_seconds: {
    type: 'histogram',
    help: 'From an update of a pod to the end of the call that it led to.',
    unit: 's',
    labels: {
      operation_type: { help: 'the kind of the update', values: ['create', 'update', 'sync', 'kill', 'terminated'] },
    },
    buckets: defaultBuckets,
    part: workersPart,
    origin: 'kubelet',
  },
  pod_status_manager_worker_calls_in_flight: {
    type: 'gauge',
    help: 'Calls of the pod syncer that have not settled.',
    unit: '{call}',
    labels: { state },
    part: workersPart,
    origin: 'own',
  },
  pod_status_manager_worker_retries_total: {
    type: 'counter',
    help: 'Calls of the pod syncer that failed and are repeated.',
    unit: '{call}',
    labels: { state },
    part: workersPart,
    origin: 'own',
  },
  pod_status_manager_worker_queue_depth: {
    type: 'gauge',
    help: 'Pods in the work queue: those that are due, and those that are synced again later.',
    unit: '{pod}',
    labels: {},
    part: workersPart,
    origin: 'own',
  },
  pod_status_manager_worker_queue_lateness_seconds: {
    type: 'gauge',
    help: 'How long the first pod of the work queue has been due; 0 when none is.',
    unit: 's',
    labels: {},
    part: workersPart,
    origin: 'own',
  },
} as const satisfies Record<string, WrittenDefinition>;
