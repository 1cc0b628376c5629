import type { NodeInfo } from '../nodes/node-info.ts';

/** Those nodes of a list of which something is true, in the order of the list. */
export class NodePart {
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
