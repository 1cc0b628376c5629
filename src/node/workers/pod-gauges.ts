// Behaviour of the end of HandlePodCleanups in pkg/kubelet/kubelet_pods.go, v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { isStaticPod } from '../../api/pod/pod-identity.ts';
import type { MetricLabels } from '../../base/metrics/metric-definitions.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';
import type { KnownPod } from './pod-records.ts';

type Working = MetricLabels['kubelet_working_pods'];

const lifecycles: readonly Working['lifecycle'][] = ['sync', 'terminating', 'terminated'];
const kinds: readonly Omit<Working, 'lifecycle'>[] = [
  { config: 'desired', static: '' },
  { config: 'desired', static: 'true' },
  { config: 'orphan', static: '' },
  { config: 'orphan', static: 'true' },
  { config: 'runtime_only', static: 'unknown' },
];

export interface PodsOfAgent {
  readonly allPods: readonly Pod[];
  readonly allMirrorPods: readonly Pod[];
  readonly activePods: readonly Pod[];
  /** The pods that the workers know. */
  readonly working: ReadonlyMap<string, KnownPod>;
}

/** Sets the gauges that a look at all pods gives. */
export function setPodGauges(metrics: Metrics, { allPods, allMirrorPods, activePods, working }: PodsOfAgent): void {
  for (const value of ['', 'true'] as const) {
    const isOfKind = (pod: Pod): boolean => isStaticPod(pod) === (value === 'true');
    metrics.set('kubelet_desired_pods', allPods.filter(isOfKind).length, { static: value });
    metrics.set('kubelet_active_pods', activePods.filter(isOfKind).length, { static: value });
  }
  metrics.set('kubelet_mirror_pods', allMirrorPods.length);
  const ephemeral = allPods.reduce((sum, { spec }) => sum + (spec?.ephemeralContainers?.length ?? 0), 0);
  metrics.set('kubelet_managed_ephemeral_containers', ephemeral);
  const known = [...working.values()];
  for (const kind of kinds) {
    const ofKind = known.filter((pod) => isWorking(pod, kind));
    for (const lifecycle of lifecycles) {
      const count = ofKind.filter(({ state }) => state === lifecycle).length;
      metrics.set('kubelet_working_pods', count, { ...kind, lifecycle });
    }
  }
}

function isWorking(pod: KnownPod, kind: Omit<Working, 'lifecycle'>): boolean {
  if (!pod.hasConfig) return kind.config === 'runtime_only';
  return kind.config === (pod.orphan ? 'orphan' : 'desired') && kind.static === (pod.static ? 'true' : '');
}
