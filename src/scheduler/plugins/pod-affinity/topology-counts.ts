import type { WireNode } from '../../../api/json/types.ts';
import { labelOf } from '../../../api/selectors/label-selector.ts';
import { DomainCounts } from '../common/domain-counts.ts';

/** How many pods a domain has, for each of several topology keys. A clone costs what was changed since. */
export class TopologyCounts {
  readonly #byKey: Map<string, DomainCounts>;

  constructor(byKey: Iterable<readonly [string, DomainCounts]> = []) {
    this.#byKey = new Map(byKey);
  }

  /** True where no domain has a pod. */
  get isEmpty(): boolean {
    for (const counts of this.#byKey.values()) if (!counts.isEmpty) return false;
    return true;
  }

  /** Counts so many pods more in the node's domain of this key. A node without the label has none. */
  add(node: WireNode, topologyKey: string, pods: number): void {
    const domain = labelOf(node.metadata?.labels, topologyKey);
    if (domain === undefined) return;
    let counts = this.#byKey.get(topologyKey);
    if (counts === undefined) {
      counts = new DomainCounts();
      this.#byKey.set(topologyKey, counts);
    }
    counts.add(domain, pods);
  }

  /** The pods in the node's domain of this key; undefined for a node without the label. */
  get(node: WireNode, topologyKey: string): number | undefined {
    const domain = labelOf(node.metadata?.labels, topologyKey);
    return domain === undefined ? undefined : (this.#byKey.get(topologyKey)?.get(domain) ?? 0);
  }

  /** True where one of the node's domains has a pod. */
  hasAny(node: WireNode): boolean {
    for (const topologyKey of this.#byKey.keys()) if ((this.get(node, topologyKey) ?? 0) > 0) return true;
    return false;
  }

  clone(): TopologyCounts {
    return new TopologyCounts([...this.#byKey].map(([key, counts]) => [key, counts.clone()] as const));
  }
}
