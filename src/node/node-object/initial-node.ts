// Behaviour of pkg/kubelet/kubelet_node_status.go initialNode, v1.36.3.

import { nullIsAbsent, wireEqual } from '../../api/json/json.ts';
import { isOlderThan } from '../../api/json/resource-version.ts';
import type { Json, WireNode, WireNodeCondition, WireTaint } from '../../api/json/types.ts';
import type { SteadyClock } from '../../base/clock.ts';
import { invalidOption } from '../../base/errors.ts';
import { isLabelKey, isLabelValue, labelKeyRule, labelValueRule } from '../../base/names.ts';
import { requireKnownOptions } from '../../base/options.ts';
import { type ResolvedStatus, requireRecord } from './advertised-status.ts';
import { type NodeHealth, nodeConditions } from './node-conditions.ts';

/** What a node is created with, beside its status. */
export interface NodeIdentity {
  /** Beside the labels for the host name, the operating system and the architecture, which may be replaced here. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Default: none. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** What keeps pods away that do not tolerate it. Default: none. */
  readonly taints?: readonly WireTaint[];
  /** The machine's name for a cloud: `provider://id`. */
  readonly providerID?: string;
}

export const identityMembers = ['labels', 'annotations', 'taints', 'providerID'] as const;
const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** The node as it is created, without conditions. Throws ERR_INVALID_OPTION, naming the member, the rule and the value. */
export function initialNode(nodeName: string, identity: NodeIdentity, { nodeInfo }: ResolvedStatus): WireNode {
  const { labels = {}, annotations = {}, taints = [], providerID } = identity;
  if (providerID !== undefined && (typeof providerID !== 'string' || providerID === '')) {
    throw invalidOption('providerID', 'a non-empty string', providerID);
  }
  const { operatingSystem: os, architecture: arch } = nodeInfo;
  const own = {
    'kubernetes.io/hostname': nodeName,
    'kubernetes.io/os': os,
    'kubernetes.io/arch': arch,
    'beta.kubernetes.io/os': os,
    'beta.kubernetes.io/arch': arch,
  };
  const defaults = Object.fromEntries(Object.entries(own).filter(([, value]) => isLabelValue(value)));
  const isGiven = Object.keys(annotations).length > 0;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: nodeName,
      labels: { ...defaults, ...checkedLabels(labels) },
      ...(isGiven ? { annotations: checkedAnnotations(annotations) } : {}),
    },
    spec: {
      ...(providerID === undefined ? {} : { providerID }),
      ...(taints.length === 0 ? {} : { taints: checkedTaints(taints) }),
    },
  };
}

function checkedLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  requireRecord('labels', labels);
  for (const [key, value] of Object.entries(labels)) {
    if (!isLabelKey(key)) throw invalidOption('labels, the key', labelKeyRule, key);
    if (!isLabelValue(value)) throw invalidOption(`labels["${key}"]`, labelValueRule, value);
  }
  return { ...labels };
}

function checkedAnnotations(annotations: Readonly<Record<string, string>>): Record<string, string> {
  requireRecord('annotations', annotations);
  for (const [key, value] of Object.entries(annotations)) {
    if (!isLabelKey(key)) throw invalidOption('annotations, the key', labelKeyRule, key);
    if (typeof value !== 'string') throw invalidOption(`annotations["${key}"]`, 'text', value);
  }
  return { ...annotations };
}

function checkedTaints(taints: readonly WireTaint[]): WireTaint[] {
  if (!Array.isArray(taints)) throw invalidOption('taints', 'a list', taints);
  const seen = new Set<string>();
  return taints.map((taint: WireTaint, index) => {
    const name = `taints[${index}]`;
    requireKnownOptions(name, taint, ['key', 'value', 'effect', 'timeAdded']);
    const { key, value = '', effect } = taint;
    if (!isLabelKey(key)) throw invalidOption(`${name}.key`, labelKeyRule, key);
    if (!isLabelValue(value)) throw invalidOption(`${name}.value`, labelValueRule, value);
    if (!effects.includes(effect)) throw invalidOption(`${name}.effect`, `one of ${effects.join(', ')}`, effect);
    const pair = `${key}:${effect}`;
    if (seen.has(pair)) throw invalidOption(name, 'the only taint of its key and effect', pair);
    seen.add(pair);
    return { ...taint };
  });
}

// Behaviour of pkg/kubelet/kubelet_node_status.go updateNode, reconcile* and nodeStatusHasChanged, v1.36.3.

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

type WireNodeStatus = NonNullable<WireNode['status']>;

function withStatus(node: WireNode, { status: own, advertised }: DesiredNode, health: NodeHealth, now: string): WireNode {
  const { status = {} } = node;
  const capacity = { ...without(status.capacity ?? {}, (name) => advertised.has(name)), ...own.capacity };
  // a resource that another writer advertises is allocatable whole
  const allocatable = { ...without(status.allocatable ?? {}, (name) => advertised.has(name)), ...capacity, ...own.allocatable };
  return {
    ...node,
    status: withoutEmptyList({
      ...status,
      capacity,
      allocatable,
      addresses: [...(own.addresses ?? status.addresses ?? [{ type: 'Hostname', address: node.metadata?.name ?? '' }])],
      nodeInfo: { ...status.nodeInfo, ...own.nodeInfo },
      daemonEndpoints: { ...own.daemonEndpoints },
      ...(structuredClone(own.optional) as WireNode['status']),
      conditions: nodeConditions(status.conditions ?? [], health, now),
    }),
  };
}

/** The apiserver keeps no empty list of volumes. */
function withoutEmptyList(status: WireNodeStatus): WireNodeStatus {
  const { volumesInUse, ...rest } = status;
  return volumesInUse?.length ? status : rest;
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

/** The newest copy of the node: of those that the watch has shown and those that our own requests were answered with. */
export class KnownNode {
  readonly #clock: SteadyClock;
  #watched: WireNode | undefined;
  #answered: WireNode | undefined;
  /** By `Clock.elapsed`. */
  #answeredAt = Number.NaN;
  #isWatched = false;

  constructor(clock: SteadyClock) {
    this.#clock = clock;
  }

  /** True once a full list was seen, so that a node which is not known is not there. */
  get isWatched(): boolean {
    return this.#isWatched;
  }

  get newest(): WireNode | undefined {
    if (this.#watched === undefined || this.#answered === undefined) return this.#answered ?? this.#watched;
    return isOlderThan(this.#watched, this.#answered) ? this.#answered : this.#watched;
  }

  answered(node: WireNode): void {
    this.#answered = node;
    this.#answeredAt = this.#clock.elapsed();
  }

  shown(node: WireNode): void {
    this.#watched = node;
  }

  /** Returns true when that was the node as it is known. */
  shownDeleted(node: WireNode): boolean {
    this.#watched = undefined;
    if (this.#answered !== undefined && this.#answered.metadata?.uid !== node.metadata?.uid) return false;
    this.#answered = undefined;
    return true;
  }

  /**
   * The watch has shown all that the server had when it was asked. Its word counts for what we knew before, also where it shows
   * an older version, as after a restore of etcd. `askedAt`: when it was asked, by `Clock.elapsed`.
   */
  listed(askedAt: number | undefined): void {
    this.#isWatched = true;
    if (askedAt !== undefined && this.#answeredAt < askedAt) this.#answered = undefined;
  }

  /** A request has found no node. */
  forget(): void {
    this.#answered = undefined;
    this.#watched = undefined;
  }
}
