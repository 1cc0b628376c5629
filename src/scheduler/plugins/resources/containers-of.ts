// Behaviour of pkg/scheduler/framework/plugins/noderesources, resource_allocation.go as fit.go sets it up, v1.36.3.
import { podAmounts } from '../../nodes/pod-amounts.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';

/** The pod as if it asked for nothing as a whole: what its containers and its overhead ask for. */
export function containersOf(info: PodInfo): PodInfo {
  const { resources: _, ...spec } = info.pod.spec ?? { containers: [] };
  return { ...info, ...podAmounts({ spec }) };
}
