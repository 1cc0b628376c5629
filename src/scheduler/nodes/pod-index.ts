import { DomainTotals, type LabelledNodes } from './domain-totals.ts';
import type { AffinityTerm, PodInfo } from './pod-info.ts';

/** How many pods are on each node, by the node's name. Nodes that are not known may be among them. */
export type PodsByNode = ReadonlyMap<string, number>;

/** The pods that no selector tells apart: one namespace, the same labels, all being deleted or none. */
export interface PodGroup {
  /** One of them. */
  readonly sample: PodInfo;
  /** How many pods of the group are on each node. */
  readonly nodes: PodsByNode;
}

/** The pods that have the same term, and that many times. */
export interface TermGroup {
  /** The term that they share. */
  readonly term: AffinityTerm;
  /** How many pods have the term on each node. */
  readonly nodes: PodsByNode;
}

/** A term that makes a node better or worse for the pods that it speaks of. */
export interface PreferenceGroup extends TermGroup {
  /** Below 0 where the pods are not wanted; undefined for a required affinity. */
  readonly weight: number | undefined;
}

/** The pods of all nodes, grouped so that a question about them is asked once for each group. */
export interface GroupedPods {
  /** Every pod is in one of these groups. */
  groups(): Iterable<PodGroup>;
  /** The required anti-affinity of the pods. */
  antiAffinity(): Iterable<TermGroup>;
  /** What the pods prefer, and their required affinity. */
  preferences(): Iterable<PreferenceGroup>;
  /** The nodes with pods that name this claim (`NAMESPACE/NAME`), and how many. */
  usersOf(claimKey: string): PodsByNode;
}

/** Keeps the groups up to date, pod by pod. */
export class PodIndex implements GroupedPods {
  readonly #totals = new DomainTotals();
  readonly #groups = new Counters<{ readonly sample: PodInfo }>(this.#totals);
  readonly #antiAffinity = new Counters<{ readonly term: AffinityTerm }>(this.#totals);
  readonly #preferences = new Counters<{ readonly term: AffinityTerm; readonly weight: number | undefined }>(this.#totals);
  readonly #claims = new Counters<object>(this.#totals);

  groups(): Iterable<PodGroup> {
    return this.#groups.all();
  }

  antiAffinity(): Iterable<TermGroup> {
    return this.#antiAffinity.all();
  }

  preferences(): Iterable<PreferenceGroup> {
    return this.#preferences.all();
  }

  usersOf(claimKey: string): PodsByNode {
    return this.#claims.get(claimKey)?.nodes ?? new Map();
  }

  /** The pods of one of these groups by the domains of their nodes, see {@link DomainTotals.of}. */
  byDomain(nodes: PodsByNode, topologyKey: string, source: LabelledNodes): ReadonlyMap<string, number> {
    return this.#totals.of(nodes, topologyKey, source);
  }

  add(nodeName: string, pod: PodInfo): void {
    this.#change(nodeName, pod, 1);
  }

  /** `pod` is the version that was added. */
  remove(nodeName: string, pod: PodInfo): void {
    this.#change(nodeName, pod, -1);
  }

  #change(nodeName: string, pod: PodInfo, by: 1 | -1): void {
    this.#groups.change(pod.groupKey, nodeName, by, { sample: pod });
    for (const key of pod.claimKeys) this.#claims.change(key, nodeName, by, {});
    if (!pod.hasAffinity) return;
    for (const term of pod.requiredAntiAffinityTerms) this.#antiAffinity.change(term.key, nodeName, by, { term });
    for (const term of pod.requiredAffinityTerms) {
      this.#preferences.change(`required ${term.key}`, nodeName, by, { term, weight: undefined });
    }
    for (const term of pod.preferredAffinityTerms) this.#prefer(nodeName, by, term, term.weight);
    for (const term of pod.preferredAntiAffinityTerms) this.#prefer(nodeName, by, term, -term.weight);
  }

  #prefer(nodeName: string, by: 1 | -1, term: AffinityTerm, weight: number): void {
    this.#preferences.change(`${weight} ${term.key}`, nodeName, by, { term, weight });
  }
}

/** Numbers by group and node. What falls to nothing is dropped. */
class Counters<About extends object> {
  readonly #byKey = new Map<string, About & { readonly nodes: Map<string, number> }>();
  readonly #totals: DomainTotals;

  constructor(totals: DomainTotals) {
    this.#totals = totals;
  }

  get(key: string): (About & { readonly nodes: PodsByNode }) | undefined {
    return this.#byKey.get(key);
  }

  all(): Iterable<About & { readonly nodes: PodsByNode }> {
    return this.#byKey.values();
  }

  change(key: string, nodeName: string, by: 1 | -1, about: About): void {
    let counter = this.#byKey.get(key);
    if (counter === undefined) {
      counter = { ...about, nodes: new Map() };
      this.#byKey.set(key, counter);
    }
    const { nodes } = counter;
    const before = nodes.get(nodeName) ?? 0;
    const count = Math.max(0, before + by);
    if (count > 0) nodes.set(nodeName, count);
    else nodes.delete(nodeName);
    this.#totals.change(nodes, nodeName, count - before);
    if (nodes.size > 0) return;
    this.#byKey.delete(key);
    this.#totals.drop(nodes);
  }
}
