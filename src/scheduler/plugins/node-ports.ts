// Behaviour of pkg/scheduler/framework/plugins/nodeports, v1.36.3.

import type { WirePod } from '../../api/json/types.ts';
import { hostPortsOf, portsConflict } from '../../api/pod/host-ports.ts';
import type { QueueingHint } from '../framework/cluster-event.ts';
import type { Plugin } from '../framework/plugin.ts';
import type { Rejection } from '../framework/status.ts';
import { refuseArgs } from './common/refuse-args.ts';

const taken: Rejection = {
  code: 'Unschedulable',
  reasons: ["node(s) didn't have free ports for the requested pod ports"],
};

/** Rejects a node where a pod has one of the ports of the node that this pod asks for. No arguments. */
export function nodePorts(args?: unknown): Plugin {
  refuseArgs('NodePorts', args);
  return {
    name: 'NodePorts',
    eventsToRegister: () => [
      { resource: 'Pod', actions: ['Delete'], hint: (pod, before) => afterPodDeleted(pod, before as WirePod | undefined) },
      { resource: 'Node', actions: ['Add'] },
    ],
    preFilter: (_state, { hostPorts }) => (hostPorts.length === 0 ? 'skip' : undefined),
    filter: (_state, { hostPorts }, node) => (hostPorts.some((port) => node.hasConflict(port)) ? taken : undefined),
  };
}

/** Helps where the deleted pod was on a node, or was promised one, and had one of the ports. */
function afterPodDeleted(pod: WirePod, deleted: WirePod | undefined): QueueingHint {
  if (!deleted?.spec?.nodeName && !deleted?.status?.nominatedNodeName) return 'Skip';
  const freed = hostPortsOf(deleted);
  return hostPortsOf(pod).some((port) => freed.some((other) => portsConflict(port, other))) ? 'Queue' : 'Skip';
}
