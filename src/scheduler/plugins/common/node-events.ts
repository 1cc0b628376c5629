// Which changes may help pods that these plugins rejected. Behaviour of pkg/scheduler/framework/plugins, v1.36.3.
import { hostPortsOf, portsConflict } from '../../../placement/host-ports.ts';
import { requiredNodeAffinity } from '../../../placement/node-affinity.ts';
import type { NodeTest } from '../../../placement/node-selector.ts';
import { findUntoleratedTaint, isTolerated } from '../../../placement/taints.ts';
import type { WireNode } from '../../../wire/node-types.ts';
import type { WirePod } from '../../../wire/types.ts';
import type { ClusterEventWithHint, QueueingHint } from '../../framework/cluster-event.ts';

/** Pods whose node has to be there by its name. */
export const nodeNameEvents: readonly ClusterEventWithHint[] = [{ resource: 'Node', actions: ['Add'] }];

/** Pods that want a port of the node: the end of a pod that has such a port helps. */
export const nodePortsEvents: readonly ClusterEventWithHint[] = [
  { resource: 'Pod', actions: ['Delete'], hint: (pod, before) => queueIf(gaveUpPort(pod, asPod(before))) },
  { resource: 'Node', actions: ['Add'] },
];

/** Pods that no node takes which is cordoned. */
export const nodeUnschedulableEvents: readonly ClusterEventWithHint[] = [
  {
    resource: 'Node',
    actions: ['Add', 'UpdateNodeTaint'],
    hint: (_pod, before, after) => {
      const wasCordoned = before === undefined || asNode(before).spec?.unschedulable === true;
      return queueIf(wasCordoned && asNode(after).spec?.unschedulable !== true);
    },
  },
  {
    resource: 'Pod',
    actions: ['UpdatePodToleration'],
    hint: (pod, _before, after) => queueIf(isSame(pod, asPod(after)) && isTolerated(cordoned, asPod(after).spec?.tolerations)),
  },
];

/** Pods whose tolerations do not cover the taints of nodes. */
export const taintTolerationEvents: readonly ClusterEventWithHint[] = [
  {
    resource: 'Node',
    actions: ['Add', 'UpdateNodeTaint'],
    hint: (pod, before, after) => {
      const wasKeptOff = before === undefined || keepsOff(asNode(before), pod);
      return queueIf(wasKeptOff && !keepsOff(asNode(after), pod));
    },
  },
  { resource: 'Pod', actions: ['UpdatePodToleration'], hint: (pod, _before, after) => queueIf(isSame(pod, asPod(after))) },
];

/** Pods that select nodes by their labels. `added`: what the profile asks of every node. */
export function nodeAffinityEvents(added: NodeTest = () => true): readonly ClusterEventWithHint[] {
  return [
    {
      resource: 'Node',
      actions: ['Add', 'UpdateNodeLabel'],
      hint: (pod, before, after) => {
        const isWanted = requiredNodeAffinity(pod);
        if (!added(asNode(after)) || !isWanted(asNode(after))) return 'Skip';
        return queueIf(before === undefined || !isWanted(asNode(before)));
      },
    },
  ];
}

/** Pods with scheduling gates: only their own last gate matters. */
export const schedulingGatesEvents: readonly ClusterEventWithHint[] = [
  {
    resource: 'Pod',
    actions: ['UpdatePodSchedulingGatesEliminated'],
    hint: (pod, _before, after) => queueIf(isSame(pod, asPod(after))),
  },
];

const cordoned = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

function gaveUpPort(pod: WirePod, gone: WirePod): boolean {
  // a pod that had no node, and was promised none, took no port
  if (!gone.spec?.nodeName && !gone.status?.nominatedNodeName) return false;
  const given = hostPortsOf(gone);
  return hostPortsOf(pod).some((wanted) => given.some((port) => portsConflict(port, wanted)));
}

function keepsOff({ spec }: WireNode, pod: WirePod): boolean {
  return findUntoleratedTaint(spec?.taints, pod.spec?.tolerations, ['NoSchedule', 'NoExecute']) !== undefined;
}

function isSame(pod: WirePod, other: WirePod): boolean {
  return pod.metadata?.uid === other.metadata?.uid;
}

function queueIf(helps: boolean): QueueingHint {
  return helps ? 'Queue' : 'Skip';
}

function asPod(object: unknown): WirePod {
  return object as WirePod;
}

function asNode(object: unknown): WireNode {
  return object as WireNode;
}
