import type { WireNode } from '../../../api/json/types.ts';
import type { StateData } from '../../framework/cycle-state.ts';
import type { Rejection } from '../../framework/status.ts';
import type { Snapshot } from '../../nodes/node-info.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';
import { matchesAllTerms, type NamespaceLabels } from './affinity-terms.ts';
import { nodesOf } from './nodes-of.ts';
import { TopologyCounts } from './topology-counts.ts';

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
      for (const [node, pods] of nodesOf(nodes, snapshot)) counts.#counts.opposed.add(node, term.topologyKey, pods);
    }
    if (requiredAffinityTerms.length + requiredAntiAffinityTerms.length > 0) {
      for (const { sample, nodes } of snapshot.grouped.groups()) counts.#addOwn(sample, nodesOf(nodes, snapshot));
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
    this.#addOwn(other, [[node, by]]);
  }

  /** Why the pod must not go to `node`. */
  rejection(node: WireNode): Rejection | undefined {
    if (!this.#hasWanted(node)) return noAffinity;
    const { unwanted, opposed } = this.#counts;
    if (unwanted.hasAny(node)) return ownAntiAffinity;
    return opposed.hasAny(node) ? othersAntiAffinity : undefined;
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

  /** So many pods as `sample` on each node. */
  #addOwn(sample: PodInfo, nodes: Iterable<readonly [WireNode, number]>): void {
    const { requiredAffinityTerms, requiredAntiAffinityTerms } = this.#toSchedule;
    const labels = this.#labelsOf(sample.namespace);
    const isWanted = matchesAllTerms(requiredAffinityTerms, sample.pod, this.#labelsOf);
    const unwanted = requiredAntiAffinityTerms.filter((term) => term.matches(sample.pod, labels));
    if (!isWanted && unwanted.length === 0) return;
    for (const [node, pods] of nodes) {
      if (isWanted) for (const { topologyKey } of requiredAffinityTerms) this.#counts.wanted.add(node, topologyKey, pods);
      for (const { topologyKey } of unwanted) this.#counts.unwanted.add(node, topologyKey, pods);
    }
  }
}
