import type { WireNode } from '../../api/json/types.ts';
import { NodeState } from '../nodes/node-state.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import { zoneKeyOf } from '../nodes/zone.ts';
import { type ImageCounting, ImageCounts } from './image-counts.ts';
import { ZoneOrder } from './zone-order.ts';

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

  /** Also for a node that is not known, if there are pods of it. */
  get(name: string): NodeState | undefined {
    return this.#states.get(name);
  }

  /** Throws ERR_INVALID_ARGUMENT for an allocatable that is no quantity; nothing is changed then. */
  set(node: WireNode): void {
    const name = node.metadata?.name ?? '';
    const known = this.#states.get(name);
    const state = known === undefined ? new NodeState(name) : known.clone();
    state.setNode(node, new Map()); // throws before anything is counted
    state.setNode(node, this.#images.replace(known?.hasNode ? known.node : undefined, node));
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
