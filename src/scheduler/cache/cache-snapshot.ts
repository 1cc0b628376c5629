import { labelOf } from '../../api/selectors/label-selector.ts';
import type { NodeInfo, Snapshot } from '../nodes/node-info.ts';
import type { GroupedPods } from '../nodes/pod-index.ts';

/** Where the snapshot finds the nodes. */
export interface NodeSource {
  get(name: string): NodeInfo | undefined;
}

/**
 * The nodes as they were at the last update. A NodeInfo never changes; an update puts others into their places, so lists are
 * not to be kept beyond it. An update costs as much as has changed, and as much as all nodes only when nodes come or go.
 */
export class CacheSnapshot implements Snapshot {
  readonly grouped: GroupedPods;
  #labelsVersion = 0;
  #nodes: NodeInfo[] = [];
  #positions = new Map<string, number>();
  readonly #withAffinity = new NodePart((node) => node.podsWithAffinity.length > 0);
  readonly #withRequiredAntiAffinity = new NodePart((node) => node.podsWithRequiredAntiAffinity.length > 0);

  constructor(grouped: GroupedPods) {
    this.grouped = grouped;
  }

  get nodes(): readonly NodeInfo[] {
    return this.#nodes;
  }

  get nodesWithAffinity(): readonly NodeInfo[] {
    return this.#withAffinity.nodes;
  }

  get nodesWithRequiredAntiAffinity(): readonly NodeInfo[] {
    return this.#withRequiredAntiAffinity.nodes;
  }

  get labelsVersion(): number {
    return this.#labelsVersion;
  }

  get(name: string): NodeInfo | undefined {
    const position = this.#positions.get(name);
    return position === undefined ? undefined : this.#nodes[position];
  }

  /** All nodes anew, in this order. */
  rebuild(order: readonly string[], source: NodeSource): void {
    this.#labelsVersion += 1;
    this.#nodes = order.flatMap((name) => source.get(name) ?? []);
    this.#positions = new Map(this.#nodes.map(({ name }, position) => [name, position]));
    this.#withAffinity.rebuild(this.#nodes);
    this.#withRequiredAntiAffinity.rebuild(this.#nodes);
  }

  /** The same nodes, of which these have changed. Names that are not in the snapshot are passed over. */
  replace(names: Iterable<string>, source: NodeSource): void {
    for (const name of names) {
      const position = this.#positions.get(name);
      const node = source.get(name);
      if (position === undefined || node === undefined) continue;
      if (!hasSameLabels(node, this.#nodes[position])) this.#labelsVersion += 1;
      this.#nodes[position] = node;
      this.#withAffinity.put(node);
      this.#withRequiredAntiAffinity.put(node);
    }
    this.#withAffinity.settle(this.#nodes);
    this.#withRequiredAntiAffinity.settle(this.#nodes);
  }
}

function hasSameLabels(node: NodeInfo, before: NodeInfo | undefined): boolean {
  if (before === undefined) return false;
  if (node.node === before.node) return true;
  const [labels, labelsBefore] = [node.node.metadata?.labels ?? {}, before.node.metadata?.labels ?? {}];
  const keys = Object.keys(labels);
  return keys.length === Object.keys(labelsBefore).length && keys.every((key) => labels[key] === labelOf(labelsBefore, key));
}

/** Those nodes of a list of which something is true, in the order of the list. */
class NodePart {
  readonly #belongs: (node: NodeInfo) => boolean;
  #nodes: NodeInfo[] = [];
  #positions = new Map<string, number>();
  #isStale = false;

  constructor(belongs: (node: NodeInfo) => boolean) {
    this.#belongs = belongs;
  }

  get nodes(): readonly NodeInfo[] {
    return this.#nodes;
  }

  rebuild(all: readonly NodeInfo[]): void {
    this.#nodes = all.filter(this.#belongs);
    this.#positions = new Map(this.#nodes.map(({ name }, position) => [name, position]));
    this.#isStale = false;
  }

  /** Another state of a node of the list. */
  put(node: NodeInfo): void {
    const position = this.#positions.get(node.name);
    if (this.#belongs(node) !== (position !== undefined)) this.#isStale = true;
    else if (position !== undefined) this.#nodes[position] = node;
  }

  /** After the last put: nodes that have come or gone are sorted in. */
  settle(all: readonly NodeInfo[]): void {
    if (this.#isStale) this.rebuild(all);
  }
}
