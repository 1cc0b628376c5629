import type { WireNode, WirePod } from '../../../api/json/types.ts';
import { type LabelSet, labelOf } from '../../../api/selectors/label-selector.ts';
import type { StateData } from '../../framework/cycle-state.ts';
import { type CheckReasons, DomainCheck } from '../../framework/domain-check.ts';
import type { NodePlaces } from '../../framework/node-places.ts';
import type { Rejection } from '../../framework/plugin.ts';
import type { Snapshot } from '../../nodes/node-info.ts';
import type { AffinityTerm, PodInfo } from '../../nodes/pod-info.ts';
import { DomainCounts, podsByDomain } from '../common.ts';

const noAffinity: Rejection = { code: 'UnschedulableAndUnresolvable', reasons: ["node(s) didn't match pod affinity rules"] };
const ownAntiAffinity: Rejection = { code: 'Unschedulable', reasons: ["node(s) didn't match pod anti-affinity rules"] };
const othersAntiAffinity: Rejection = {
  code: 'Unschedulable',
  reasons: ["node(s) didn't satisfy existing pods anti-affinity rules"],
};

interface Counts {
  /** Pods that match all terms of the pod's affinity, once for each term. */
  readonly wanted: TopologyCounts;
  /** Pods that match a term of the pod's anti-affinity, once for each such term. */
  readonly unwanted: TopologyCounts;
  /** Pods that match the pod by a term of their own anti-affinity, once for each such term. */
  readonly opposed: TopologyCounts;
}

/** Where the pods are that a pod's required terms speak of, and those whose required anti-affinity speaks of the pod. */
export class AffinityCounts implements StateData<AffinityCounts> {
  readonly #toSchedule: PodInfo;
  readonly #labelsOf: NamespaceLabels;
  readonly #counts: Counts;

  private constructor(toSchedule: PodInfo, labelsOf: NamespaceLabels, counts: Counts) {
    this.#toSchedule = toSchedule;
    this.#labelsOf = labelsOf;
    this.#counts = counts;
  }

  /** Undefined where no required term speaks of the pod, and it has none itself. */
  static of(toSchedule: PodInfo, snapshot: Snapshot, labelsOf: NamespaceLabels): AffinityCounts | undefined {
    const counts = new AffinityCounts(toSchedule, labelsOf, {
      wanted: new TopologyCounts(),
      unwanted: new TopologyCounts(),
      opposed: new TopologyCounts(),
    });
    const { requiredAffinityTerms, requiredAntiAffinityTerms, pod, namespace } = toSchedule;
    const ownLabels = labelsOf(namespace) ?? {};
    for (const { term, nodes } of snapshot.grouped.antiAffinity()) {
      if (!term.matches(pod, ownLabels)) continue;
      counts.#counts.opposed.addAll(term.topologyKey, podsByDomain(nodes, term.topologyKey, snapshot));
    }
    if (requiredAffinityTerms.length + requiredAntiAffinityTerms.length > 0) {
      for (const { sample, nodes } of snapshot.grouped.groups()) {
        counts.#addOwn(sample, (topologyKey) => podsByDomain(nodes, topologyKey, snapshot));
      }
    } else if (counts.#counts.opposed.isEmpty) {
      return undefined;
    }
    return counts;
  }

  clone(): AffinityCounts {
    const { wanted, unwanted, opposed } = this.#counts;
    const counts = { wanted: wanted.clone(), unwanted: unwanted.clone(), opposed: opposed.clone() };
    return new AffinityCounts(this.#toSchedule, this.#labelsOf, counts);
  }

  /** One pod more (1) or less (-1) on `node`. */
  change(other: PodInfo, node: WireNode, by: 1 | -1): void {
    this.#changeOpposed(other, node, by);
    this.#addOwn(other, (topologyKey) => {
      const domain = labelOf(node.metadata?.labels, topologyKey);
      return domain === undefined ? [] : [[domain, by]];
    });
  }

  /** Why the pod must not go to `node`. */
  rejection(node: WireNode): Rejection | undefined {
    if (!this.#hasWanted(node)) return noAffinity;
    const { unwanted, opposed } = this.#counts;
    if (unwanted.hasAny(node)) return ownAntiAffinity;
    return opposed.hasAny(node) ? othersAntiAffinity : undefined;
  }

  /** As {@link rejection}, by places; undefined where the domains are not known by their places. The counts must not change any more. */
  byPlace(places: NodePlaces): readonly DomainCheck[] | undefined {
    const { wanted, unwanted, opposed } = this.#counts;
    const terms = this.#toSchedule.requiredAffinityTerms;
    const isFirst = terms.length > 0 && wanted.isEmpty && matchesAllTerms(terms, this.#toSchedule.pod, this.#labelsOf);
    const checks: DomainCheck[] = [];
    const add = (counts: TopologyCounts, keys: Iterable<string>, reasons: CheckReasons, only: boolean): boolean => {
      for (const key of keys) {
        const domains = places.domains(key);
        if (domains === undefined) return false;
        checks.push(DomainCheck.of(domains, reasons, only, counts.domainsWithPods(key)));
      }
      return true;
    };
    // the first pod needs nodes with the label, but no pods there
    const areKnown =
      add(
        wanted,
        new Set(terms.map(({ topologyKey }) => topologyKey)),
        { rejection: noAffinity, lacking: noAffinity },
        isFirst,
      ) &&
      add(unwanted, unwanted.keys(), { rejection: ownAntiAffinity, lacking: undefined }, true) &&
      add(opposed, opposed.keys(), { rejection: othersAntiAffinity, lacking: undefined }, true);
    return areKnown ? checks : undefined;
  }

  /**
   * True where each of the domains that the affinity names has a pod that matches. The first pod of a group whose affinity
   * is to itself needs none, as long as no pod matches anywhere.
   */
  #hasWanted(node: WireNode): boolean {
    const terms = this.#toSchedule.requiredAffinityTerms;
    const { wanted } = this.#counts;
    const pods = terms.map(({ topologyKey }) => wanted.get(node, topologyKey));
    if (pods.includes(undefined)) return false;
    if (pods.every((count) => (count ?? 0) > 0)) return true;
    return wanted.isEmpty && matchesAllTerms(terms, this.#toSchedule.pod, this.#labelsOf);
  }

  #changeOpposed(other: PodInfo, node: WireNode, by: 1 | -1): void {
    const ownLabels = this.#labelsOf(this.#toSchedule.namespace) ?? {};
    for (const term of other.requiredAntiAffinityTerms) {
      if (term.matches(this.#toSchedule.pod, ownLabels)) this.#counts.opposed.add(node, term.topologyKey, by);
    }
  }

  /** So many pods as `sample` in each domain of a key. */
  #addOwn(sample: PodInfo, podsOf: (topologyKey: string) => PodsByDomain): void {
    const { requiredAffinityTerms, requiredAntiAffinityTerms } = this.#toSchedule;
    const labels = this.#labelsOf(sample.namespace);
    const isWanted = matchesAllTerms(requiredAffinityTerms, sample.pod, this.#labelsOf);
    const unwanted = requiredAntiAffinityTerms.filter((term) => term.matches(sample.pod, labels));
    if (isWanted)
      for (const { topologyKey } of requiredAffinityTerms) this.#counts.wanted.addAll(topologyKey, podsOf(topologyKey));
    for (const { topologyKey } of unwanted) this.#counts.unwanted.addAll(topologyKey, podsOf(topologyKey));
  }
}

type PodsByDomain = Iterable<readonly [domain: string, pods: number]>;

/** How many pods a domain has, for each of several topology keys. A clone costs what was changed since. */
class TopologyCounts {
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
    if (domain !== undefined) this.addAll(topologyKey, [[domain, pods]]);
  }

  /** Counts so many pods more in each of these domains. */
  addAll(topologyKey: string, pods: PodsByDomain): void {
    for (const [domain, count] of pods) {
      let counts = this.#byKey.get(topologyKey);
      if (counts === undefined) {
        counts = new DomainCounts();
        this.#byKey.set(topologyKey, counts);
      }
      counts.add(domain, count);
    }
  }

  /** The keys that were counted. */
  keys(): Iterable<string> {
    return this.#byKey.keys();
  }

  /** The domains of this key that have a pod. */
  domainsWithPods(topologyKey: string): Iterable<string> {
    return this.#byKey.get(topologyKey)?.withPods() ?? [];
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

/** The labels of a namespace; undefined for one that is not known. */
export type NamespaceLabels = (namespace: string) => LabelSet | undefined;

/** True where every term speaks of `other`. No terms speak of nobody. */
export function matchesAllTerms(terms: readonly AffinityTerm[], other: WirePod, labelsOf: NamespaceLabels): boolean {
  if (terms.length === 0) return false;
  const namespaceLabels = labelsOf(other.metadata?.namespace ?? '');
  return terms.every((term) => term.matches(other, namespaceLabels));
}
