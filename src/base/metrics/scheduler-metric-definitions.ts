import type { WrittenDefinition } from './metric-definition.ts';

const part = 'Scheduler';
const origin = 'kube-scheduler';
const profile = { help: "the profile, by its scheduler's name" } as const;
const result = {
  help: 'whether the pod got a node, fits on none, or failed for another reason',
  values: ['scheduled', 'unschedulable', 'error'],
} as const;
/** From 1 ms, each twice the one before. */
const attemptBuckets = [
  ...([0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512] as const),
  ...([1.024, 2.048, 4.096, 8.192, 16.384] as const),
] as const;

/** What the scheduler measures. */
export const schedulerMetricDefinitions = {
  scheduler_schedule_attempts_total: {
    type: 'counter',
    help: 'Attempts to schedule a pod.',
    unit: '{attempt}',
    labels: { result, profile },
    part,
    origin,
  },
  scheduler_scheduling_attempt_duration_seconds: {
    type: 'histogram',
    help: 'How long an attempt took, the binding included.',
    unit: 's',
    labels: { result, profile },
    buckets: attemptBuckets,
    part,
    origin,
  },
  scheduler_scheduling_algorithm_duration_seconds: {
    type: 'histogram',
    help: 'How long it took to choose a node.',
    unit: 's',
    labels: {},
    buckets: attemptBuckets,
    part,
    origin,
  },
  scheduler_pod_scheduling_sli_duration_seconds: {
    type: 'histogram',
    help: 'From when a pod could first be tried until it was bound.',
    unit: 's',
    labels: { attempts: { help: 'how many attempts it took; `15+` from 15 on' } },
    buckets: [
      ...([0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12] as const),
      ...([10.24, 20.48, 40.96, 81.92, 163.84, 327.68, 655.36, 1310.72, 2621.44, 5242.88] as const),
    ],
    part,
    origin,
  },
  scheduler_pod_scheduling_attempts: {
    type: 'histogram',
    help: 'How many attempts it took to schedule a pod.',
    unit: '{attempt}',
    labels: {},
    buckets: [1, 2, 4, 8, 16],
    part,
    origin,
  },
  scheduler_pending_pods: {
    type: 'gauge',
    help: 'Pods that wait to be tried, or for something that may help them.',
    unit: '{pod}',
    labels: { queue: { help: 'where they wait', values: ['active', 'backoff', 'unschedulable', 'gated'] } },
    part,
    origin,
  },
  scheduler_queue_incoming_pods_total: {
    type: 'counter',
    help: 'Pods that came to a part of the queue, and by what.',
    unit: '{pod}',
    labels: {
      queue: { help: 'the part', values: ['active', 'backoff', 'unschedulable'] },
      event: { help: 'what brought them there, such as `UnschedulablePodAdd`, `ScheduleAttemptFailure` or `NodeAdd`' },
    },
    part,
    origin,
  },
  scheduler_unschedulable_pods: {
    type: 'gauge',
    help: 'Pods that wait because of a plugin. A pod counts for each plugin that rejected it.',
    unit: '{pod}',
    labels: { plugin: { help: 'the plugin' }, profile },
    part,
    origin,
  },
  scheduler_cache_size: {
    type: 'gauge',
    help: 'What the scheduler knows of the cluster. `assumed_pods` have a node here and are being bound.',
    unit: '{object}',
    labels: { type: { help: 'what is counted', values: ['nodes', 'pods', 'assumed_pods'] } },
    part,
    origin,
  },
  scheduler_preemption_attempts_total: {
    type: 'counter',
    help: 'Attempts to make room for a pod that fits nowhere, by letting other pods go, whatever came of them.',
    unit: '{attempt}',
    labels: {},
    part,
    origin,
  },
  scheduler_preemption_victims: {
    type: 'histogram',
    help: 'How many pods had to go for one.',
    unit: '{pod}',
    labels: {},
    buckets: [1, 2, 4, 8, 16, 32, 64],
    part,
    origin,
  },
} as const satisfies Record<string, WrittenDefinition>;
