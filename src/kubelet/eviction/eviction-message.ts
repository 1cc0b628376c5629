// Behaviour of pkg/kubelet/eviction/helpers.go (evictionMessage), v1.36.3.

import type { Pod } from '../../api/json/types.ts';
import { isPodLevelResource } from '../../api/pod/pod-requests.ts';
import { bytesText, canonicalQuantity } from '../../api/quantity/quantity.ts';
import { wholeOf } from '../resize/pod-allocation.ts';
import { type MetThreshold, type Resource, signalKinds, thresholdText } from './thresholds.ts';
import type { ContainerUsage, PodUsage } from './usage.ts';

/** Why a pod has to go because the node runs short: in words, and as annotations of the event. */
export interface EvictionWords {
  readonly message: string;
  /** The names of those who took more than they asked for, what they took, and of what. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** Says what the node is short of, and who of the pod takes more of it than it asked for. */
export function evictionWords(threshold: MetThreshold, pod: Pod, usage: PodUsage | undefined): EvictionWords {
  const { resource } = signalKinds[threshold.signal];
  const message = `The node was low on resource: ${resource}. ${thresholdText(threshold)}`;
  if (usage === undefined) return { message, annotations: {} };
  const whole = wholePod(resource, pod, usage);
  const blamed = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].flatMap(({ name, resources }) => {
    const used = usedOf(resource, usage.containers[name]);
    const request = resources?.requests?.[resource];
    return used !== undefined && used > wholeOf(request) ? [{ name, used: bytesText(used), request }] : [];
  });
  const words = blamed.map(({ name, used, request = '0' }) => larger(`Container ${name}`, used, request, resource));
  return {
    message: `${message}${whole === undefined ? '' : larger(`Pod ${whole.name}`, whole.used, whole.request, resource)}${words.join('')}`,
    annotations: {
      ...(whole !== undefined && { offending_pod: whole.name, offending_pod_usage: whole.used }),
      offending_containers: blamed.map(({ name }) => name).join(','),
      offending_containers_usage: blamed.map(({ used }) => used).join(','),
      starved_resource: resource,
    },
  };
}

function larger(who: string, used: string, request: string, resource: Resource): string {
  return `${who} was using ${used}, request is ${canonicalQuantity(request)}, has larger consumption of ${resource}. `;
}

/** Of a pod that asks for memory as a whole. */
function wholePod(resource: Resource, { metadata, spec }: Pod, { memory }: PodUsage) {
  const { requests, limits } = spec?.resources ?? {};
  const isSet = [...Object.keys(requests ?? {}), ...Object.keys(limits ?? {})].some(isPodLevelResource);
  const request = requests?.memory;
  if (resource !== 'memory' || !isSet || request === undefined || memory === undefined) return undefined;
  return { name: metadata?.name ?? '', used: bytesText(memory), request };
}

function usedOf(resource: Resource, usage: ContainerUsage | undefined): number | undefined {
  if (resource === 'memory') return usage?.memory;
  if (resource !== 'ephemeral-storage' || usage?.rootfs === undefined || usage.logs === undefined) return undefined;
  return usage.rootfs.bytes + usage.logs.bytes;
}
