// Behaviour of pkg/scheduler/backend/cache nodeTree, v1.36.3.

/** The order in which nodes are tried: the zones take turns, each with its nodes in the order in which they came. */
export class ZoneOrder {
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
