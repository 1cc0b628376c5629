import { defaultBuckets } from './label-values.ts';
import type { WrittenDefinition } from './metric-definition.ts';

const lifecyclePart = 'PodLifecycle';

/** What is measured of the lists and events of a container runtime. */
export const lifecycleMetrics = {
  kubelet_pleg_relist_duration_seconds: {
    type: 'histogram',
    help: 'How long a list of all pods of the container runtime took.',
    unit: 's',
    labels: {},
    buckets: defaultBuckets,
    part: lifecyclePart,
    origin: 'kubelet',
  },
  kubelet_pleg_relist_interval_seconds: {
    type: 'histogram',
    help: 'The time from one list of all pods to the next.',
    unit: 's',
    labels: {},
    buckets: defaultBuckets,
    part: lifecyclePart,
    origin: 'kubelet',
  },
  kubelet_pleg_pod_relist_duration_seconds: {
    type: 'histogram',
    help: 'How long it took to read one pod from the container runtime.',
    unit: 's',
    labels: {},
    buckets: defaultBuckets,
    part: lifecyclePart,
    origin: 'kubelet',
  },
  kubelet_pleg_last_seen_seconds: {
    type: 'gauge',
    help: 'When the last successful list of all pods began, in seconds since the epoch.',
    unit: 's',
    labels: {},
    part: lifecyclePart,
    origin: 'kubelet',
  },
  kubelet_running_pods: {
    type: 'gauge',
    help: 'Pods with a sandbox that can take containers.',
    unit: '{pod}',
    labels: {},
    part: lifecyclePart,
    origin: 'kubelet',
  },
  kubelet_running_containers: {
    type: 'gauge',
    help: 'Containers that the runtime lists.',
    unit: '{container}',
    labels: {
      container_state: { help: 'what the container does', values: ['created', 'running', 'exited', 'unknown'] },
    },
    part: lifecyclePart,
    origin: 'kubelet',
  },
  pod_status_manager_runtime_event_stream_ends_total: {
    type: 'counter',
    help: 'How often the events of the container runtime have ended, or could not be had; the runtime is listed more often then.',
    unit: '{stream}',
    labels: {},
    part: lifecyclePart,
    origin: 'own',
  },
} as const satisfies Record<string, WrittenDefinition>;
