import type { WireNode, WirePod, WireTaint } from '../../api/json/types.ts';
import { hostPortsOf, portsConflict } from '../../api/pod/host-ports.ts';
import { isTolerated } from '../../api/selectors/taints.ts';
import { withSignature } from '../framework/placed-plugin.ts';
import type { Plugin, PluginHandle, QueueingHint, Rejection } from '../framework/plugin.ts';
import { refuseArgs } from './common.ts';

/** Binds every pod through the scheduler's client. No arguments. */
export function defaultBinder(args: unknown, handle: PluginHandle): Plugin {
  refuseArgs('DefaultBinder', args);
  return {
    name: 'DefaultBinder',
    async bind(_state, { pod }, nodeName, signal) {
      await handle.client.bind(pod, nodeName, signal);
      return 'bound';
    },
  };
}

// Behaviour of pkg/scheduler/framework/plugins/nodename, v1.36.3.

const otherNode: Rejection = {
  code: 'UnschedulableAndUnresolvable',
  reasons: ["node(s) didn't match the requested node name"],
};

/** Rejects every node but the one that the pod names. No arguments. */
export function nodeName(args?: unknown): Plugin {
  refuseArgs('NodeName', args);
  const plugin: Plugin = {
    name: 'NodeName',
    eventsToRegister: () => [{ resource: 'Node', actions: ['Add'] }],
    filter: (_state, { pod: { spec } }, node) => (!spec?.nodeName || spec.nodeName === node.name ? undefined : otherNode),
  };
  return withSignature(plugin, ({ pod: { spec } }) => spec?.nodeName ?? '');
}

// Behaviour of pkg/scheduler/framework/plugins/nodeports, v1.36.3.

const taken: Rejection = {
  code: 'Unschedulable',
  reasons: ["node(s) didn't have free ports for the requested pod ports"],
};

/** Rejects a node where a pod has one of the ports of the node that this pod asks for. No arguments. */
export function nodePorts(args?: unknown): Plugin {
  refuseArgs('NodePorts', args);
  const plugin: Plugin = {
    name: 'NodePorts',
    eventsToRegister: () => [
      { resource: 'Pod', actions: ['Delete'], hint: (pod, before) => afterPodDeleted(pod, before as WirePod | undefined) },
      { resource: 'Node', actions: ['Add'] },
    ],
    preFilter: (_state, { hostPorts }) => (hostPorts.length === 0 ? 'skip' : undefined),
    filter: (_state, { hostPorts }, node) => (hostPorts.some((port) => node.hasConflict(port)) ? taken : undefined),
  };
  return withSignature(plugin, ({ hostPorts }) => JSON.stringify(hostPorts));
}

/** Helps where the deleted pod was on a node, or was promised one, and had one of the ports. */
function afterPodDeleted(pod: WirePod, deleted: WirePod | undefined): QueueingHint {
  if (!deleted?.spec?.nodeName && !deleted?.status?.nominatedNodeName) return 'Skip';
  const freed = hostPortsOf(deleted);
  return hostPortsOf(pod).some((port) => freed.some((other) => portsConflict(port, other))) ? 'Queue' : 'Skip';
}

// Behaviour of pkg/scheduler/framework/plugins/nodeunschedulable, v1.36.3.

const cordoned: Rejection = { code: 'UnschedulableAndUnresolvable', reasons: ['node(s) were unschedulable'] };
const taint: WireTaint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** Rejects nodes that are marked unschedulable, unless the pod tolerates the taint that stands for it. No arguments. */
export function nodeUnschedulable(args?: unknown): Plugin {
  refuseArgs('NodeUnschedulable', args);
  const plugin: Plugin = {
    name: 'NodeUnschedulable',
    eventsToRegister: () => [
      {
        resource: 'Node',
        actions: ['Add', 'UpdateNodeTaint'],
        hint: (_pod, before, after) => (opens(before as WireNode | undefined, after as WireNode | undefined) ? 'Queue' : 'Skip'),
      },
      {
        resource: 'Pod',
        actions: ['UpdatePodToleration'],
        hint: (pod, _before, after) => (toleratesNow(pod, after as WirePod | undefined) ? 'Queue' : 'Skip'),
      },
    ],
    filter: (_state, { pod: { spec } }, { node }) =>
      !node.spec?.unschedulable || isTolerated(taint, spec?.tolerations) ? undefined : cordoned,
  };
  return withSignature(plugin, ({ pod: { spec } }) => `${isTolerated(taint, spec?.tolerations)}`);
}

function opens(before: WireNode | undefined, after: WireNode | undefined): boolean {
  const wasShut = before === undefined || before.spec?.unschedulable === true;
  return wasShut && !after?.spec?.unschedulable;
}

function toleratesNow(pod: WirePod, updated: WirePod | undefined): boolean {
  return updated?.metadata?.uid === pod.metadata?.uid && isTolerated(taint, updated?.spec?.tolerations);
}

// Behaviour of pkg/scheduler/framework/plugins/queuesort, v1.36.3.

/** Sorts the queue: the higher priority first; of equal ones the pod that was put into the queue first. No arguments. */
export function prioritySort(args?: unknown): Plugin {
  refuseArgs('PrioritySort', args);
  return {
    name: 'PrioritySort',
    less: (first, second) =>
      first.podInfo.priority > second.podInfo.priority ||
      (first.podInfo.priority === second.podInfo.priority && first.timestamp < second.timestamp),
  };
}

// Behaviour of pkg/scheduler/framework/plugins/schedulinggates, v1.36.3.

/** Keeps a pod from being tried while it has scheduling gates. No arguments. */
export function schedulingGates(args?: unknown): Plugin {
  refuseArgs('SchedulingGates', args);
  return {
    name: 'SchedulingGates',
    eventsToRegister: () => [
      {
        resource: 'Pod',
        actions: ['UpdatePodSchedulingGatesEliminated'],
        hint: (pod, _before, after) => ((after as WirePod | undefined)?.metadata?.uid === pod.metadata?.uid ? 'Queue' : 'Skip'),
      },
    ],
    preEnqueue({ spec }) {
      const gates = (spec?.schedulingGates ?? []).map(({ name }) => name);
      if (gates.length === 0) return undefined;
      return { code: 'UnschedulableAndUnresolvable', reasons: [`waiting for scheduling gates: [${gates.join(' ')}]`] };
    },
  };
}
