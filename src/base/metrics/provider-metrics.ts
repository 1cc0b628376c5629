import { defaultBuckets, requestBuckets } from './label-values.ts';
import type { WrittenDefinition } from './metric-definition.ts';

const providerPart = 'ProviderPodSyncer';
const method = {
  help: 'the method of the provider',
  values: ['createPod', 'updatePod', 'deletePod', 'getPodStatus'],
} as const;

/** What a provider node measures of its provider. */
export const providerMetrics = {
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
