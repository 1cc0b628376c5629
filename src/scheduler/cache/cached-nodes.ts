import type { WireNode } from '../../api/json/types.ts';
import { labelOf } from '../../api/selectors/label-selector.ts';
import type { ImageAccount } from '../nodes/image-account.ts';
import { type NodeInfo, NodeState, type SnapshotWithGenerations, zoneKeyOf } from '../nodes/node-info.ts';
import type { GroupedPods } from '../nodes/pod-index.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import { type CountedImages, type ImageCounting, ImageCounts, SnapshotImages } from './image-counts.ts';

/** What has changed since it was asked for last. */
export interface NodeChanges {
  /** The nodes that are there, in their order; undefined where the order is as it was. */
  readonly order: readonly string[] | undefined;
  /** The nodes of which anything has changed. */
  readonly names: ReadonlySet<string>;
}

/**
 * The nodes with their pods. A state that was handed out by {@link CachedNodes.takeChanges} is never changed any more: the next
 * change of that node makes a copy.
 */
export class CachedNodes {
  readonly #states = new Map<string, NodeState>();
  readonly #order = new ZoneOrder();
  readonly #images: ImageCounts;
  /** These states are nobody else's. */
  #changed = new Set<string>();
  #hasNewOrder = false;

  constructor(counting: ImageCounting) {
    this.#images = new ImageCounts(counting);
  }

  /** How many nodes are known; those of which there are only pods are not counted. */
  get size(): number {
    return this.#order.size;
  }

  /** The nodes that are there, in their order. */
  names(): readonly string[] {
    return this.#order.list();
  }

  /** What there is to know of the images of all nodes. */
  get images(): CountedImages {
    return this.#images;
  }

  /** Also for a node that is not known, if there are pods of it. */
  get(name: string): NodeState | undefined {
    return this.#states.get(name);
  }

  /** Throws ERR_INVALID_ARGUMENT for an allocatable that is no quantity; nothing is changed then. */
  set(node: WireNode): void {
    const name = node.metadata?.name ?? '';
    const known = this.#states.get(name);
    const state = known === undefined ? new NodeState(name) : known.clone();
    state.setNode(node, state.images); // throws before anything is counted
    state.setNode(node, this.#images.replace(known?.hasNode ? known : undefined, node));
    this.#states.set(name, state);
    this.#changed.add(name);
    if (this.#order.put(name, zoneKeyOf(node))) this.#hasNewOrder = true;
  }

  /** The pods stay, until they are removed themselves. Returns false for a node that is not known. */
  delete(name: string): boolean {
    const known = this.#states.get(name);
    if (known === undefined || !known.hasNode) return false;
    this.#images.remove(known.node);
    this.#order.delete(name);
    this.#hasNewOrder = true;
    const state = this.#writable(name);
    state.removeNode();
    this.#dropIfEmpty(state);
    return true;
  }

  addPod(nodeName: string, pod: PodInfo): void {
    this.#writable(nodeName).addPod(pod);
  }

  /** See {@link NodeState.removePod}. */
  removePod(nodeName: string, pod: PodInfo, counted?: PodInfo): void {
    const state = this.#writable(nodeName);
    state.removePod(pod, counted);
    this.#dropIfEmpty(state);
  }

  /** What has changed since the last call. */
  takeChanges(): NodeChanges {
    const names = this.#changed;
    const order = this.#hasNewOrder ? this.#order.list() : undefined;
    this.#changed = new Set();
    this.#hasNewOrder = false;
    return { order, names };
  }

  #writable(name: string): NodeState {
    const known = this.#states.get(name);
    if (known !== undefined && this.#changed.has(name)) return known;
    const state = known === undefined ? new NodeState(name) : known.clone();
    this.#states.set(name, state);
    this.#changed.add(name);
    return state;
  }

  #dropIfEmpty(state: NodeState): void {
    if (!state.hasNode && state.pods.length === 0) this.#states.delete(state.name);
  }
}

// Behaviour of pkg/scheduler/backend/cache nodeTree, v1.36.3.

/** The order in which nodes are tried: the zones take turns, each with its nodes in the order in which they came. */
class ZoneOrder {
  readonly #zones = new Map<string, Set<string>>();
  readonly #zoneOf = new Map<string, string>();

  get size(): number {
    return this.#zoneOf.size;
  }

  /** A node that is there keeps its place, unless its zone is another one now. Returns whether the order has changed. */
  put(node: string, zone: string): boolean {
    const before = this.#zoneOf.get(node);
    if (before === zone) return false;
    this.delete(node);
    this.#zoneOf.set(node, zone);
    const nodes = this.#zones.get(zone);
    if (nodes === undefined) this.#zones.set(zone, new Set([node]));
    else nodes.add(node);
    return true;
  }

  /** Returns whether the node was there. */
  delete(node: string): boolean {
    const zone = this.#zoneOf.get(node);
    if (zone === undefined) return false;
    this.#zoneOf.delete(node);
    const nodes = this.#zones.get(zone);
    nodes?.delete(node);
    if (nodes?.size === 0) this.#zones.delete(zone);
    return true;
  }

  list(): string[] {
    const order: string[] = [];
    let zones = [...this.#zones.values()].map((nodes) => nodes.values());
    while (zones.length > 0) {
      zones = zones.filter((nodes) => {
        const { value, done } = nodes.next();
        if (done === true) return false;
        order.push(value);
        return true;
      });
    }
    return order;
  }
}

/** Where the snapshot finds the nodes. */
export interface NodeSource {
  get(name: string): NodeState | undefined;
}

/**
 * The nodes as they were at the last update. A NodeInfo never changes; an update puts others into their places, so lists are
 * not to be kept beyond it. An update costs as much as has changed, and as much as all nodes only when nodes come or go.
 */
export class CacheSnapshot implements SnapshotWithGenerations {
  readonly grouped: GroupedPods;
  #labelsVersion = 0;
  #nodes: NodeInfo[] = [];
  #generations = new Float64Array(0);
  #positions = new Map<string, number>();
  readonly #withAffinity = new NodePart((node) => node.podsWithAffinity.length > 0);
  readonly #withRequiredAntiAffinity = new NodePart((node) => node.podsWithRequiredAntiAffinity.length > 0);

  readonly #images: SnapshotImages;

  /** `images`: of now, because what nodes say of their images is that of now. `areShared`: all nodes say the same of an image. */
  constructor(grouped: GroupedPods, images: CountedImages, areShared: boolean) {
    this.grouped = grouped;
    this.#images = new SnapshotImages(images, areShared);
  }

  get nodes(): readonly NodeInfo[] {
    return this.#nodes;
  }

  get generations(): Float64Array {
    return this.#generations;
  }

  get nodesWithAffinity(): readonly NodeInfo[] {
    return this.#withAffinity.of(this.#nodes);
  }

  get nodesWithRequiredAntiAffinity(): readonly NodeInfo[] {
    return this.#withRequiredAntiAffinity.of(this.#nodes);
  }

  get labelsVersion(): number {
    return this.#labelsVersion;
  }

  get imagesVersion(): number {
    return this.#images.version;
  }

  get images(): ImageAccount | undefined {
    return this.#images.account;
  }

  get(name: string): NodeInfo | undefined {
    const position = this.#positions.get(name);
    return position === undefined ? undefined : this.#nodes[position];
  }

  /** All nodes anew, in this order. */
  rebuild(order: readonly string[], source: NodeSource): void {
    this.#labelsVersion += 1;
    const nodes = order.flatMap((name) => source.get(name) ?? []);
    this.#nodes = nodes;
    this.#images.rebuild(nodes);
    this.#generations = Float64Array.from(this.#nodes, ({ generation }) => generation);
    this.#positions = new Map(this.#nodes.map(({ name }, position) => [name, position]));
    this.#withAffinity.forget();
    this.#withRequiredAntiAffinity.forget();
  }

  /** The same nodes, of which these have changed. Names that are not in the snapshot are passed over. */
  replace(names: Iterable<string>, source: NodeSource): void {
    this.#images.update();
    for (const name of names) {
      const position = this.#positions.get(name);
      const node = source.get(name);
      if (position === undefined || node === undefined) continue;
      if (!hasSameLabels(node, this.#nodes[position])) this.#labelsVersion += 1;
      this.#nodes[position] = node;
      this.#generations[position] = node.generation;
      this.#images.put(position, node);
      this.#withAffinity.put(node);
      this.#withRequiredAntiAffinity.put(node);
    }
  }
}

function hasSameLabels(node: NodeInfo, before: NodeInfo | undefined): boolean {
  if (before === undefined) return false;
  if (node.node === before.node) return true;
  const [labels, labelsBefore] = [node.node.metadata?.labels ?? {}, before.node.metadata?.labels ?? {}];
  const keys = Object.keys(labels);
  return keys.length === Object.keys(labelsBefore).length && keys.every((key) => labels[key] === labelOf(labelsBefore, key));
}

/** Those nodes of a list of which something is true, in the order of the list. They are found out once somebody asks. */
class NodePart {
  readonly #belongs: (node: NodeInfo) => boolean;
  #nodes: NodeInfo[] = [];
  #positions = new Map<string, number>();
  #isStale = true;

  constructor(belongs: (node: NodeInfo) => boolean) {
    this.#belongs = belongs;
  }

  /** `all`: the list as it is now. */
  of(all: readonly NodeInfo[]): readonly NodeInfo[] {
    if (!this.#isStale) return this.#nodes;
    this.#nodes = all.filter(this.#belongs);
    this.#positions = new Map(this.#nodes.map(({ name }, position) => [name, position]));
    this.#isStale = false;
    return this.#nodes;
  }

  /** There are other nodes, or they come in another order. */
  forget(): void {
    this.#isStale = true;
  }

  /** Another state of a node of the list. */
  put(node: NodeInfo): void {
    if (this.#isStale) return;
    const position = this.#positions.get(node.name);
    if (this.#belongs(node) !== (position !== undefined)) this.#isStale = true;
    else if (position !== undefined) this.#nodes[position] = node;
  }
}
