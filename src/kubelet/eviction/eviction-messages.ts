// Behaviour of pkg/kubelet/eviction/helpers.go (evictionMessage), v1.36.3.
import type { Pod } from '../../api/json/types.ts';
import { bytesText, wholeOf } from '../resize/resource-amounts.ts';
import { type MetThreshold, signalKinds, thresholdText } from './signals.ts';
import type { ContainerUsage, PodUsage } from './usage.ts';

/** Why a pod is evicted because the node runs short. */
export function lowResourceMessage(threshold: MetThreshold, { spec }: Pod, usage: PodUsage | undefined): string {
  const { resource } = signalKinds[threshold.signal];
  const blamed = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].flatMap(({ name, resources }) => {
    const used = usedOf(resource, usage?.containers[name]);
    const request = wholeOf(resources?.requests?.[resource]);
    if (used === undefined || used <= request) return [];
    const asked = request === 0 ? '0' : bytesText(request);
    return [`Container ${name} was using ${bytesText(used)}, request is ${asked}, has larger consumption of ${resource}. `];
  });
  return `The node was low on resource: ${resource}. ${thresholdText(threshold)}${blamed.join('')}`;
}

function usedOf(resource: string, usage: ContainerUsage | undefined): number | undefined {
  if (resource === 'memory') return usage?.memory;
  if (resource !== 'ephemeral-storage' || usage?.rootfs === undefined || usage.logs === undefined) return undefined;
  return usage.rootfs.bytes + usage.logs.bytes;
}
