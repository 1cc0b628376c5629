// Behaviour of pkg/scheduler/framework/plugins/noderesources, fit.go, v1.36.3.

import type { WireNode, WirePod } from '../../../api/json/types.ts';
import type { JsonMembers } from '../../../client/transport/api-answer.ts';
import type { ClusterEventWithHint, QueueingHint } from '../../framework/cluster-event.ts';
import { podAmounts } from '../../nodes/pod-amounts.ts';
import type { ResourceAmounts } from '../../nodes/resource.ts';
import { allocatableAmounts } from '../../nodes/resource-amounts.ts';
import { rememberedByObject } from './remembered.ts';
import { shortages } from './shortages.ts';

const nothing: ResourceAmounts = { milliCPU: 0, memory: 0, ephemeralStorage: 0, scalar: new Map() };

/** What may help a pod that fits nowhere: a pod that ends or asks for less, and a node that has, or gets, enough. */
export function fitEvents(): readonly ClusterEventWithHint[] {
  // one event is held against many pods, and one pod against many events
  const requestsOf = rememberedByObject((pod: WirePod) => podAmounts(pod).requests);
  const allocatableOf = rememberedByObject((node: WireNode) => allocatableAmounts(node.status?.allocatable));
  const podEnds = (before: WirePod): QueueingHint => hint(Boolean(before.spec?.nodeName || before.status?.nominatedNodeName));
  const podAsksForLess = (pod: WirePod, before: WirePod, after: WirePod): QueueingHint => {
    if (after.metadata?.uid === pod.metadata?.uid) return 'Queue';
    if (!after.spec?.nodeName) return 'Skip';
    return hint(anyMore(requestsOf(pod), requestsOf(before), requestsOf(after)));
  };
  const nodeHasEnough = (pod: WirePod, before: WireNode | undefined, after: WireNode | undefined): QueueingHint => {
    if (after === undefined) return 'Skip';
    const requests = requestsOf(pod);
    const allocatable = allocatableOf(after);
    if (shortages(requests, allocatable, nothing, 0) !== undefined) return 'Skip';
    if (before === undefined) return 'Queue';
    const had = allocatableOf(before);
    return hint(allocatable.pods > had.pods || anyMore(requests, allocatable, had));
  };
  return [
    {
      resource: 'Pod',
      actions: ['Delete', 'UpdatePodScaleDown'],
      hint: (pod, before, after) =>
        after === undefined ? podEnds(podOf(before)) : podAsksForLess(pod, podOf(before), podOf(after)),
    },
    {
      resource: 'Node',
      actions: ['Add', 'UpdateNodeAllocatable'],
      hint: (pod, before, after) => nodeHasEnough(pod, before as WireNode | undefined, after as WireNode | undefined),
    },
  ];
}

function hint(helps: boolean): QueueingHint {
  return helps ? 'Queue' : 'Skip';
}

function podOf(object: JsonMembers | undefined): WirePod {
  return (object ?? {}) as WirePod;
}

/** True where `one` has more than `other` of a resource that is asked for. */
function anyMore(requests: ResourceAmounts, one: ResourceAmounts, other: ResourceAmounts): boolean {
  if (requests.milliCPU > 0 && one.milliCPU > other.milliCPU) return true;
  if (requests.memory > 0 && one.memory > other.memory) return true;
  if (requests.ephemeralStorage > 0 && one.ephemeralStorage > other.ephemeralStorage) return true;
  for (const [name, amount] of requests.scalar) {
    if (amount !== 0 && (one.scalar.get(name) ?? 0) > (other.scalar.get(name) ?? 0)) return true;
  }
  return false;
}
