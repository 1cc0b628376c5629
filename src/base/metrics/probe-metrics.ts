import { defaultBuckets } from './label-values.ts';
import type { WrittenDefinition } from './metric-definition.ts';

const probesPart = 'ProbeManager';
const ofContainer = {
  probe_type: { help: 'the kind of the probe', values: ['Liveness', 'Readiness', 'Startup'] },
  container: { help: 'the name of the container' },
  pod: { help: 'the name of the pod' },
  namespace: { help: 'the namespace of the pod' },
} as const;

/** What the probe manager measures. */
export const probeMetrics = {
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
