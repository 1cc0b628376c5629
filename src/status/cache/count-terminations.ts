import type { WirePodStatus } from '../../api/json/types.ts';
import type { Metrics } from '../../base/metrics/metrics.ts';

const containerTypes = {
  initContainerStatuses: 'init_container',
  containerStatuses: 'container',
  ephemeralContainerStatuses: 'ephemeral_container',
} as const;

/** Counts every container that is terminated now and was not before, under the kubelet's metric name and labels. */
export function countTerminations(metrics: Metrics, previous: WirePodStatus, status: WirePodStatus): void {
  for (const list of Object.keys(containerTypes) as (keyof typeof containerTypes)[]) {
    if (status[list] === previous[list]) continue;
    let before: ReadonlyMap<string, boolean> | undefined;
    for (const { name, state } of status[list] ?? []) {
      const terminated = state?.terminated;
      if (!terminated) continue;
      before ??= wasTerminated(previous[list]);
      if (before.get(name)) continue;
      const labels = {
        container_type: containerTypes[list],
        exit_code: String(terminated.exitCode),
        reason: terminated.reason ?? '',
      };
      metrics.increment('kubelet_terminated_containers_total', labels);
    }
  }
}

/** By name; where a name comes twice, the first one counts. */
function wasTerminated(statuses: WirePodStatus['containerStatuses'] = []): ReadonlyMap<string, boolean> {
  return new Map(statuses.map(({ name, state }) => [name, state?.terminated !== undefined] as const).reverse());
}
