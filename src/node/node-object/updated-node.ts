// Behaviour of pkg/kubelet/kubelet_node_status.go updateNode, reconcile* and nodeStatusHasChanged, v1.36.3.
import { nullIsAbsent, wireEqual } from '../../api/json/json.ts';
import type { Json, WireNode, WireNodeCondition } from '../../api/json/types.ts';
import type { ResolvedStatus } from './advertised-status.ts';
import { nodeConditions } from './node-conditions.ts';
import type { NodeHealth } from './node-health.ts';

/** What the agent wants its node to say. */
export interface DesiredNode {
  readonly initial: WireNode;
  readonly status: ResolvedStatus;
  /** Resources that the agent has advertised before: those that it does no longer go. */
  readonly advertised: ReadonlySet<string>;
}

export interface UpdatedNode {
  readonly node: WireNode;
  /** True when more than the times of the heartbeats differs. */
  readonly changed: boolean;
}

/** The labels that an agent owns on its node, also on one that was there before. */
const defaultLabels = [
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'node.kubernetes.io/windows-build',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
];
/** Those that are put right at every look. */
const lastingLabels = ['kubernetes.io/os', 'kubernetes.io/arch'];

/** The node with the agent's status in place of what it said. What others wrote stays: labels, resources, conditions. */
export function updatedNode(original: WireNode, desired: DesiredNode, health: NodeHealth, now: string): UpdatedNode {
  const node = withStatus(withLabels(original, desired, lastingLabels), desired, health, now);
  return { node, changed: !isSame(original, node) };
}

/** The same for a node that the agent finds at its registration: all of the agent's default labels are put right. */
export function takenOverNode(existing: WireNode, desired: DesiredNode, health: NodeHealth, now: string): UpdatedNode {
  const node = withStatus(withLabels(existing, desired, defaultLabels), desired, health, now);
  const { capacity = {}, allocatable = {} } = node.status ?? {};
  const isStale = (resource: string): boolean => resource.startsWith('hugepages-') && !(resource in desired.status.capacity);
  const status = { ...node.status, capacity: without(capacity, isStale), allocatable: without(allocatable, isStale) };
  return { node: { ...node, status }, changed: true };
}

/** The node to create. */
export function newNode({ initial, status }: DesiredNode, health: NodeHealth, now: string): WireNode {
  return withStatus(initial, { initial, status, advertised: new Set() }, health, now);
}

function withLabels(node: WireNode, { initial }: DesiredNode, keys: readonly string[]): WireNode {
  const labels = { ...node.metadata?.labels };
  for (const key of keys) {
    const value = initial.metadata?.labels?.[key];
    if (value === '') delete labels[key];
    else if (value !== undefined) labels[key] = value;
  }
  return { ...node, metadata: { ...node.metadata, labels } };
}

function withStatus(node: WireNode, { status: own, advertised }: DesiredNode, health: NodeHealth, now: string): WireNode {
  const { status = {} } = node;
  const capacity = { ...without(status.capacity ?? {}, (name) => advertised.has(name)), ...own.capacity };
  // a resource that another writer advertises is allocatable whole
  const allocatable = { ...without(status.allocatable ?? {}, (name) => advertised.has(name)), ...capacity, ...own.allocatable };
  return {
    ...node,
    status: {
      ...status,
      capacity,
      allocatable,
      addresses: [...(own.addresses ?? status.addresses ?? [{ type: 'Hostname', address: node.metadata?.name ?? '' }])],
      nodeInfo: { ...status.nodeInfo, ...own.nodeInfo },
      daemonEndpoints: { ...own.daemonEndpoints },
      ...(structuredClone(own.optional) as WireNode['status']),
      conditions: nodeConditions(status.conditions ?? [], health, now),
    },
  };
}

function without(list: Readonly<Record<string, string>>, isGone: (resource: string) => boolean): Record<string, string> {
  return Object.fromEntries(Object.entries(list).filter(([name]) => !isGone(name)));
}

function isSame(a: WireNode, b: WireNode): boolean {
  return wireEqual(comparable(a) as Json, comparable(b) as Json, nullIsAbsent);
}

function comparable({ metadata, status }: WireNode): unknown {
  const conditions = (status?.conditions ?? []).map(withoutHeartbeat).sort((a, b) => (a.type < b.type ? -1 : 1));
  return { labels: metadata?.labels ?? {}, status: { ...status, conditions } };
}

function withoutHeartbeat({ lastHeartbeatTime, ...condition }: WireNodeCondition): WireNodeCondition {
  return condition;
}
