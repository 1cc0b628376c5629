import type { WireNode } from '../../api/json/types.ts';
import { labelOf } from '../../api/selectors/label-selector.ts';

/** Fewer nodes are counted anew each time. */
const fewestNodes = 16;
/** So many domains are kept in all totals together. */
const mostDomains = 2 ** 18;
/** So many changes are put off; with more of them it is no dearer to count anew. */
const mostChanges = 2 ** 14;

type NodeCounts = ReadonlyMap<string, number>;

/** The nodes of a snapshot with their labels. */
export interface LabelledNodes {
  /** Another number whenever a node comes, goes, or has other labels than before. */
  readonly labelsVersion: number;
  get(name: string): { readonly node: WireNode } | undefined;
}

/** Adds up numbers of nodes by the value that the nodes have for a topology key. Nodes without it, and nodes that are not there, do not count. */
export function totalsByDomain(counts: NodeCounts, topologyKey: string, source: LabelledNodes): Map<string, number> {
  const totals = new Map<string, number>();
  for (const [nodeName, count] of counts) addTo(totals, domainOf(nodeName, topologyKey, source), count);
  return totals;
}

function domainOf(nodeName: string, topologyKey: string, source: LabelledNodes): string | undefined {
  return labelOf(source.get(nodeName)?.node.metadata?.labels, topologyKey);
}

function addTo(totals: Map<string, number>, domain: string | undefined, by: number): void {
  if (domain === undefined) return;
  const total = (totals.get(domain) ?? 0) + by;
  if (total === 0) totals.delete(domain);
  else totals.set(domain, total);
}

interface Change {
  readonly counts: NodeCounts;
  readonly nodeName: string;
  readonly by: number;
}

/**
 * Keeps numbers of nodes added up by topology domain. A change is put off until somebody asks, so that what was handed out stays as it is
 * while one pod is tried. All of it is given up when labels of nodes change, and when it would hold more than it may.
 */
export class DomainTotals {
  /** By the numbers that were added up, and the topology key. */
  readonly #kept = new Map<NodeCounts, Map<string, Map<string, number>>>();
  #changes: Change[] = [];
  #source: LabelledNodes | undefined;
  #labelsVersion = -1;
  #domains = 0;

  /** How many domains are kept; totals of no domain take a place, too. */
  get size(): number {
    return this.#domains;
  }

  /** To be told of each change of numbers. */
  change(counts: NodeCounts, nodeName: string, by: number): void {
    if (!this.#kept.has(counts)) return;
    if (this.#changes.length >= mostChanges) this.#forget();
    else this.#changes.push({ counts, nodeName, by });
  }

  /** Nothing of these is left. */
  drop(counts: NodeCounts): void {
    const kept = this.#kept.get(counts);
    if (kept === undefined) return;
    for (const totals of kept.values()) this.#domains -= sizeOf(totals);
    this.#kept.delete(counts);
  }

  /** The totals hold until the next question. */
  of(counts: NodeCounts, topologyKey: string, source: LabelledNodes): NodeCounts {
    if (counts.size < fewestNodes) return totalsByDomain(counts, topologyKey, source);
    this.#catchUp(source);
    const known = this.#kept.get(counts)?.get(topologyKey);
    if (known !== undefined) return known;
    const totals = totalsByDomain(counts, topologyKey, source);
    this.#keep(counts, topologyKey, totals);
    return totals;
  }

  #keep(counts: NodeCounts, topologyKey: string, totals: Map<string, number>): void {
    if (sizeOf(totals) > mostDomains) return;
    if (this.#domains + sizeOf(totals) > mostDomains) this.#forget();
    const byKey = this.#kept.get(counts) ?? new Map<string, Map<string, number>>();
    this.#kept.set(counts, byKey);
    byKey.set(topologyKey, totals);
    this.#domains += sizeOf(totals);
  }

  #catchUp(source: LabelledNodes): void {
    if (source !== this.#source || source.labelsVersion !== this.#labelsVersion) {
      this.#forget();
      this.#source = source;
      this.#labelsVersion = source.labelsVersion;
    }
    if (this.#changes.length === 0) return;
    for (const { counts, nodeName, by } of this.#changes) {
      for (const [topologyKey, totals] of this.#kept.get(counts) ?? none) {
        this.#domains -= sizeOf(totals);
        addTo(totals, domainOf(nodeName, topologyKey, source), by);
        this.#domains += sizeOf(totals);
      }
    }
    this.#changes = [];
  }

  #forget(): void {
    this.#kept.clear();
    this.#changes = [];
    this.#domains = 0;
  }
}

const none: readonly never[] = [];

function sizeOf(totals: NodeCounts): number {
  return totals.size + 1;
}
