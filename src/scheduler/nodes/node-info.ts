import type { WireNode } from '../../api/json/types.ts';
import { everyAddress, type HostPort } from '../../api/pod/host-ports.ts';
import { type LabelSet, labelOf } from '../../api/selectors/label-selector.ts';
import type { GroupedPods } from './pod-index.ts';
import type { PodInfo } from './pod-info.ts';
import { type AllocatableAmounts, allocatableAmounts, type NonZeroAmounts, type ResourceAmounts } from './resource.ts';

/** What is known of one image that a node has. */
export interface ImageState {
  /** How large the image is. */
  readonly sizeBytes: number;
  /** On how many nodes the image is. */
  readonly nodes: number;
}

/** A node with the pods on it, and their sums. */
export interface NodeInfo {
  /** The name of the node. */
  readonly name: string;
  /** The Node object, as the apiserver has it. */
  readonly node: WireNode;
  /** In the order in which they were added; the last one takes the place of one that goes. */
  readonly pods: readonly PodInfo[];
  /** Those of `pods` with affinity or anti-affinity to pods. */
  readonly podsWithAffinity: readonly PodInfo[];
  /** Those of `pods` with required anti-affinity to pods. */
  readonly podsWithRequiredAntiAffinity: readonly PodInfo[];
  /** The sum of what the pods ask for. */
  readonly requested: ResourceAmounts;
  /** The same sum, where no container counts for nothing. */
  readonly nonZeroRequested: NonZeroAmounts;
  /** What the node has for pods. */
  readonly allocatable: AllocatableAmounts;
  /** By each name that the node has for it. */
  readonly images: ReadonlyMap<string, ImageState>;
  /** Grows with each change of the node or its pods. */
  readonly generation: number;
  /** True where one of the pods has a port that conflicts with `port`. */
  hasConflict(port: HostPort): boolean;
  /** A copy that may be changed on trial. */
  clone(): TrialNodeInfo;
}

/** A copy of a node's state for what-if questions: preemption takes pods from it and puts them back. */
export interface TrialNodeInfo extends NodeInfo {
  /** Puts a pod on the node, and adds up what it asks for. */
  addPod(pod: PodInfo): void;
  /** False where no pod of that uid is there. */
  removePod(pod: PodInfo): boolean;
}

/** The nodes at one moment. A snapshot of the cache does not change while a pod is scheduled. */
export interface Snapshot {
  /** The nodes in the order in which they are tried: zones take turns. */
  readonly nodes: readonly NodeInfo[];
  /** Those of `nodes` where a pod has affinity or anti-affinity to pods. */
  readonly nodesWithAffinity: readonly NodeInfo[];
  /** Those of `nodes` where a pod has required anti-affinity to pods. */
  readonly nodesWithRequiredAntiAffinity: readonly NodeInfo[];
  /** The node of this name; undefined where there is none. */
  get(name: string): NodeInfo | undefined;
  /** The pods of the nodes. It may know of pods on other nodes, too: those are not in the snapshot. */
  readonly grouped: GroupedPods;
  /** Another number whenever a node comes, goes, or has other labels than before. */
  readonly labelsVersion: number;
  /** Another number whenever the number of nodes that have an image changes. */
  readonly imagesVersion: number;
}

/** A snapshot that has the generations of its nodes together, so that no node is touched to find out whether it has changed. */
export interface SnapshotWithGenerations extends Snapshot {
  /** In the order of the nodes; changed in place. */
  readonly generations: Float64Array;
}

/** In the order of the nodes. */
export function generationsOf(snapshot: Snapshot): Float64Array {
  const { generations } = snapshot as Partial<SnapshotWithGenerations>;
  return generations ?? Float64Array.from(snapshot.nodes, ({ generation }) => generation);
}

// Behaviour of pkg/scheduler/framework NodeInfo, v1.36.3.

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const noPods: readonly PodInfo[] = [];

/** A node, the pods on it and their sums, which are kept by adding and subtracting. */
export class NodeState implements TrialNodeInfo {
  readonly name: string;
  #node: WireNode | undefined;
  #pods: PodInfo[] = [];
  #podsWithAffinity: readonly PodInfo[] = noPods;
  #podsWithRequiredAntiAffinity: readonly PodInfo[] = noPods;
  #requested: Writable<ResourceAmounts> = { milliCPU: 0, memory: 0, ephemeralStorage: 0, scalar: new Map() };
  #nonZeroRequested: Writable<NonZeroAmounts> = { milliCPU: 0, memory: 0 };
  #allocatable: AllocatableAmounts = allocatableAmounts(undefined);
  #images: ReadonlyMap<string, ImageState> = new Map();
  #usedPorts: UsedPorts = new Map();
  #generation = 0;
  #imagesGeneration = 0;

  /** Without a node there are only pods: the node is not known yet, or not any more. */
  constructor(name: string) {
    this.name = name;
  }

  /** Throws TypeError for a node that is not known: see {@link hasNode}. */
  get node(): WireNode {
    if (this.#node === undefined) throw new TypeError(`the node ${this.name} is not known`);
    return this.#node;
  }

  get hasNode(): boolean {
    return this.#node !== undefined;
  }

  get pods(): readonly PodInfo[] {
    return this.#pods;
  }

  get podsWithAffinity(): readonly PodInfo[] {
    return this.#podsWithAffinity;
  }

  get podsWithRequiredAntiAffinity(): readonly PodInfo[] {
    return this.#podsWithRequiredAntiAffinity;
  }

  get requested(): ResourceAmounts {
    return this.#requested;
  }

  get nonZeroRequested(): NonZeroAmounts {
    return this.#nonZeroRequested;
  }

  get allocatable(): AllocatableAmounts {
    return this.#allocatable;
  }

  get images(): ReadonlyMap<string, ImageState> {
    return this.#images;
  }

  get usedPorts(): UsedPorts {
    return this.#usedPorts;
  }

  get generation(): number {
    return this.#generation;
  }

  /** Another number whenever the node has been given another list of images. */
  get imagesGeneration(): number {
    return this.#imagesGeneration;
  }

  /** Throws ERR_INVALID_ARGUMENT for an allocatable that is no quantity; nothing is changed then. */
  setNode(node: WireNode, images: ReadonlyMap<string, ImageState>): void {
    this.#allocatable = allocatableAmounts(node.status?.allocatable);
    this.#node = node;
    if (images !== this.#images) this.#imagesGeneration++;
    this.#images = images;
    this.#generation++;
  }

  /** The pods stay. */
  removeNode(): void {
    this.#node = undefined;
    this.#generation++;
  }

  addPod(pod: PodInfo): void {
    this.#pods.push(pod);
    if (pod.hasAffinity) this.#podsWithAffinity = [...this.#podsWithAffinity, pod];
    if (pod.requiredAntiAffinityTerms.length > 0) {
      this.#podsWithRequiredAntiAffinity = [...this.#podsWithRequiredAntiAffinity, pod];
    }
    this.#usedPorts = withPorts(this.#usedPorts, pod.hostPorts);
    this.#count(pod, 1);
  }

  /** `counted`: the version whose amounts and ports are taken off; by default the one that was added. */
  removePod({ uid }: PodInfo, counted?: PodInfo): boolean {
    const index = this.#pods.findIndex((each) => each.uid === uid);
    const added = this.#pods[index];
    if (added === undefined) return false;
    removeAt(this.#pods, index);
    const pod = counted ?? added;
    if (pod.hasAffinity) this.#podsWithAffinity = without(this.#podsWithAffinity, uid);
    if (pod.requiredAntiAffinityTerms.length > 0) {
      this.#podsWithRequiredAntiAffinity = without(this.#podsWithRequiredAntiAffinity, uid);
    }
    this.#usedPorts = withoutPorts(this.#usedPorts, pod.hostPorts);
    this.#count(pod, -1);
    return true;
  }

  hasConflict(port: HostPort): boolean {
    return isTaken(this.#usedPorts, port);
  }

  clone(): NodeState {
    const copy = new NodeState(this.name);
    copy.#node = this.#node;
    copy.#pods = this.#pods.slice();
    copy.#podsWithAffinity = this.#podsWithAffinity;
    copy.#podsWithRequiredAntiAffinity = this.#podsWithRequiredAntiAffinity;
    copy.#requested = { ...this.#requested };
    copy.#nonZeroRequested = { ...this.#nonZeroRequested };
    copy.#allocatable = this.#allocatable;
    copy.#images = this.#images;
    copy.#usedPorts = this.#usedPorts;
    copy.#generation = this.#generation;
    copy.#imagesGeneration = this.#imagesGeneration;
    return copy;
  }

  #count({ requests, nonZeroRequests }: PodInfo, sign: 1 | -1): void {
    const requested = this.#requested;
    requested.milliCPU += sign * requests.milliCPU;
    requested.memory += sign * requests.memory;
    requested.ephemeralStorage += sign * requests.ephemeralStorage;
    if (requests.scalar.size > 0) requested.scalar = sumOf(requested.scalar, requests.scalar, sign);
    this.#nonZeroRequested.milliCPU += sign * nonZeroRequests.milliCPU;
    this.#nonZeroRequested.memory += sign * nonZeroRequests.memory;
    this.#generation++;
  }
}

/** A new map, because clones share the old one. */
function sumOf(amounts: ReadonlyMap<string, number>, more: ReadonlyMap<string, number>, sign: 1 | -1): Map<string, number> {
  const sum = new Map(amounts);
  for (const [name, amount] of more) sum.set(name, (sum.get(name) ?? 0) + sign * amount);
  return sum;
}

function without(pods: readonly PodInfo[], uid: string): readonly PodInfo[] {
  const index = pods.findIndex((each) => each.uid === uid);
  if (index === -1) return pods;
  const left = pods.slice();
  removeAt(left, index);
  return left;
}

/** The last one takes the place of the one that goes. */
function removeAt(pods: PodInfo[], index: number): void {
  const last = pods.pop();
  if (last !== undefined && index < pods.length) pods[index] = last;
}

// Behaviour of kube-scheduler/framework HostPortInfo, v0.36.3.

/** The addresses on which a port is taken, by `PROTOCOL PORT`. Never changed: a change makes another one. */
type UsedPorts = ReadonlyMap<string, readonly string[]>;

/** A port counts once, however many pods take it. */
function withPorts(used: UsedPorts, ports: readonly HostPort[]): UsedPorts {
  if (ports.length === 0) return used;
  const changed = new Map(used);
  for (const { ip, protocol, port } of ports) {
    const key = `${protocol} ${port}`;
    const addresses = changed.get(key) ?? [];
    if (!addresses.includes(ip)) changed.set(key, [...addresses, ip]);
  }
  return changed;
}

/** Ports that are not taken are passed over. */
function withoutPorts(used: UsedPorts, ports: readonly HostPort[]): UsedPorts {
  if (ports.length === 0) return used;
  const changed = new Map(used);
  for (const { ip, protocol, port } of ports) {
    const key = `${protocol} ${port}`;
    const left = changed.get(key)?.filter((address) => address !== ip) ?? [];
    if (left.length === 0) changed.delete(key);
    else changed.set(key, left);
  }
  return changed;
}

function isTaken(used: UsedPorts, { ip, protocol, port }: HostPort): boolean {
  if (used.size === 0) return false;
  const addresses = used.get(`${protocol} ${port}`);
  if (addresses === undefined) return false;
  return ip === everyAddress || addresses.includes(ip) || addresses.includes(everyAddress);
}

// Behaviour of component-helpers/node/topology GetZoneKey, v0.36.3.

/** A text for the node's region and zone together; empty for a node that names neither. The old labels come first. */
export function zoneKeyOf({ metadata }: WireNode): string {
  const labels: LabelSet | undefined = metadata?.labels;
  const zone = labelOf(labels, 'failure-domain.beta.kubernetes.io/zone') ?? labelOf(labels, 'topology.kubernetes.io/zone') ?? '';
  const region =
    labelOf(labels, 'failure-domain.beta.kubernetes.io/region') ?? labelOf(labels, 'topology.kubernetes.io/region') ?? '';
  return region === '' && zone === '' ? '' : `${region}:\0:${zone}`;
}
