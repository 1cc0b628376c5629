import { defaultBuckets, requestBuckets, resultLabel, staticLabel, type WrittenDefinition } from './metric-definition.ts';

/** What the node's object and the mirror pod reconciler measure. */
export const nodeMetricDefinitions = {
  pod_status_manager_node_registered: {
    type: 'gauge',
    help: '1 while the node object is known to be on the apiserver, else 0.',
    unit: '1',
    labels: {},
    part: 'NodeObject',
    origin: 'own',
  },
  pod_status_manager_node_checks_total: {
    type: 'counter',
    help: 'Looks at the node object, each of which writes what has changed.',
    unit: '{check}',
    labels: { result: resultLabel },
    part: 'NodeObject',
    origin: 'own',
  },
  pod_status_manager_lease_renewals_total: {
    type: 'counter',
    help: 'Renewals of the Lease of the node, its creation included.',
    unit: '{renewal}',
    labels: { result: resultLabel },
    part: 'NodeObject',
    origin: 'own',
  },
  pod_status_manager_lease_age_seconds: {
    type: 'gauge',
    help: 'How long ago the Lease of the node was renewed. Kubernetes gives the node up when its Lease has run out.',
    unit: 's',
    labels: {},
    part: 'NodeObject',
    origin: 'own',
  },
  kubelet_graceful_shutdown_start_time_seconds: {
    type: 'gauge',
    help: 'When the pods of the node began to end for the last shutdown of its machine, in seconds since the epoch; 0: never.',
    unit: 's',
    labels: {},
    part: 'NodeShutdown',
    origin: 'kubelet',
  },
  kubelet_graceful_shutdown_end_time_seconds: {
    type: 'gauge',
    help: 'When they had ended, or had had their time, in seconds since the epoch; 0: not yet.',
    unit: 's',
    labels: {},
    part: 'NodeShutdown',
    origin: 'kubelet',
  },
  pod_status_manager_mirror_pod_requests_total: {
    type: 'counter',
    help: 'Requests for mirror pods, by how they ended.',
    unit: '{request}',
    labels: {
      verb: { help: 'what was asked of the apiserver', values: ['create', 'delete', 'read'] },
      result: {
        help: '`answered`: the server works, and its answer has to be looked into',
        values: ['done', 'answered', 'no-client', 'failed'],
      },
    },
    part: 'MirrorPodReconciler',
    origin: 'own',
  },
} as const satisfies Record<string, WrittenDefinition>;

const providerPart = 'ProviderPodSyncer';
const method = {
  help: 'the method of the provider',
  values: ['createPod', 'updatePod', 'deletePod', 'getPodStatus', 'adopt', 'release'],
} as const;

/** What a provider node measures of its provider. */
export const providerMetricDefinitions = {
  kubelet_pod_worker_start_duration_seconds: {
    type: 'histogram',
    help: 'From the first sight of a pod to its first sync.',
    unit: 's',
    labels: {},
    buckets: defaultBuckets,
    part: providerPart,
    origin: 'kubelet',
  },
  kubelet_pod_start_duration_seconds: {
    type: 'histogram',
    help: 'From the first sight of a pod until it runs.',
    unit: 's',
    labels: {},
    buckets: [
      ...([0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900] as const),
      ...([1200, 1800, 2700, 3600] as const),
    ],
    part: providerPart,
    origin: 'kubelet',
  },
  pod_status_manager_provider_calls_total: {
    type: 'counter',
    help: 'Calls of the provider that have settled, or whose answer was given up.',
    unit: '{call}',
    labels: { method, result: { help: '`aborted`: nobody waited for the answer any more', values: ['ok', 'failed', 'aborted'] } },
    part: providerPart,
    origin: 'own',
  },
  pod_status_manager_provider_call_duration_seconds: {
    type: 'histogram',
    help: 'How long such a call took.',
    unit: 's',
    labels: { method },
    buckets: requestBuckets,
    part: providerPart,
    origin: 'own',
  },
} as const satisfies Record<string, WrittenDefinition>;

const workersPart = 'PodWorkers';
const state = { help: 'what the worker does for the pod', values: ['sync', 'terminating', 'terminated'] } as const;

/** What the pod workers measure. */
export const workerMetricDefinitions = {
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

const syncLoopPart = 'SyncLoop';

/** What the sync loop measures when it looks at all pods. */
export const syncLoopMetricDefinitions = {
  kubelet_desired_pods: {
    type: 'gauge',
    help: 'Pods that the agent is to run.',
    unit: '{pod}',
    labels: { static: staticLabel },
    part: syncLoopPart,
    origin: 'kubelet',
  },
  kubelet_active_pods: {
    type: 'gauge',
    help: 'Pods that count when another one asks for admission: those that are not over.',
    unit: '{pod}',
    labels: { static: staticLabel },
    part: syncLoopPart,
    origin: 'kubelet',
  },
  kubelet_mirror_pods: {
    type: 'gauge',
    help: 'Mirror pods that the pod manager has.',
    unit: '{pod}',
    labels: {},
    part: syncLoopPart,
    origin: 'kubelet',
  },
  kubelet_working_pods: {
    type: 'gauge',
    help: 'Pods that the workers know.',
    unit: '{pod}',
    labels: {
      lifecycle: { help: 'what the worker does for the pod', values: ['sync', 'terminating', 'terminated'] },
      config: {
        help: '`orphan`: no source has the pod any more; `runtime_only`: only the runtime has it',
        values: ['desired', 'orphan', 'runtime_only'],
      },
      static: { help: '`true` for static pods, `unknown` where only the runtime has the pod', values: ['', 'true', 'unknown'] },
    },
    part: syncLoopPart,
    origin: 'kubelet',
  },
  kubelet_restarted_pods_total: {
    type: 'counter',
    help: 'Pods that began again because they came again under the same uid while they ended.',
    unit: '{pod}',
    labels: { static: staticLabel },
    part: syncLoopPart,
    origin: 'kubelet',
  },
  kubelet_orphaned_runtime_pods_total: {
    type: 'counter',
    help: 'Pods that the runtime had and no source named; they were ended.',
    unit: '{pod}',
    labels: {},
    part: syncLoopPart,
    origin: 'kubelet',
  },
  kubelet_managed_ephemeral_containers: {
    type: 'gauge',
    help: 'Ephemeral containers of the pods that the agent is to run.',
    unit: '{container}',
    labels: {},
    part: syncLoopPart,
    origin: 'kubelet',
  },
  kubelet_admission_rejections_total: {
    type: 'counter',
    help: 'Pods that `admitPod` has refused.',
    unit: '{pod}',
    labels: { reason: { help: 'the reason that `admitPod` gave' } },
    part: syncLoopPart,
    origin: 'kubelet',
  },
} as const satisfies Record<string, WrittenDefinition>;

const probesPart = 'ProbeManager';
const ofContainer = {
  probe_type: { help: 'the kind of the probe', values: ['Liveness', 'Readiness', 'Startup'] },
  container: { help: 'the name of the container' },
  pod: { help: 'the name of the pod' },
  namespace: { help: 'the namespace of the pod' },
} as const;

/** What the probe manager measures. */
export const probeMetricDefinitions = {
  prober_probe_total: {
    type: 'counter',
    help: 'Probes of a container, by result.',
    unit: '{probe}',
    labels: {
      ...ofContainer,
      result: { help: '`unknown`: the probe could not be made', values: ['successful', 'failed', 'unknown'] },
      pod_uid: { help: 'the uid of the pod' },
    },
    part: probesPart,
    origin: 'kubelet',
    endsWithPod: true,
  },
  prober_probe_duration_seconds: {
    type: 'histogram',
    help: 'How long a probe took; failed probes are not counted.',
    unit: 's',
    labels: ofContainer,
    buckets: defaultBuckets,
    part: probesPart,
    origin: 'kubelet',
    endsWithPod: true,
  },
} as const satisfies Record<string, WrittenDefinition>;

const lifecyclePart = 'PodLifecycle';

/** From 0.1 to 40 s in 15 steps of one factor, as the kubelet has them. */
const claimBuckets = Array.from({ length: 15 }, (_, step) => Number((0.1 * 400 ** (step / 14)).toPrecision(6)));

/** What is measured of the lists and events of a container runtime. */
export const lifecycleMetricDefinitions = {
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
  dra_operations_duration_seconds: {
    type: 'histogram',
    help: 'How long it took to make all resource claims of a pod ready, or to give them back.',
    unit: 's',
    labels: {
      operation_name: { help: 'what was done', values: ['PrepareResources', 'UnprepareResources'] },
      is_error: { help: 'whether it failed', values: ['true', 'false'] },
    },
    buckets: claimBuckets,
    part: 'NodeAgent',
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
