import { type Labels, labelOf } from '../../../placement/requirement.ts';
import type { WireNode } from '../../../wire/node-types.ts';
import type { StateData } from '../../framework/cycle-state.ts';
import { maxNodeScore } from '../../framework/plugin.ts';
import type { NodeInfo, Snapshot } from '../../nodes/node-info.ts';
import type { AffinityTerm, PodInfo, WeightedAffinityTerm } from '../../nodes/pod-info.ts';
import type { NamespaceLabels } from './affinity-terms.ts';

/** How much one pod likes each domain, by what it prefers and by what the pods there prefer. */
export class AffinityScores implements StateData<AffinityScores> {
  readonly #toSchedule: PodInfo;
  readonly #hardWeight: number;
  readonly #labelsOf: NamespaceLabels;
  /** The labels of the namespace of the pod to schedule. */
  readonly #ownNamespace: Labels;
  /** By topology key and domain. */
  readonly #scores = new Map<string, Map<string, number>>();

  private constructor(toSchedule: PodInfo, hardWeight: number, labelsOf: NamespaceLabels) {
    this.#toSchedule = toSchedule;
    this.#hardWeight = hardWeight;
    this.#labelsOf = labelsOf;
    this.#ownNamespace = labelsOf(toSchedule.namespace) ?? {};
  }

  /** Undefined where no term speaks of anybody. `hardWeight`: what a required affinity of a pod that is there counts. */
  static of(toSchedule: PodInfo, hardWeight: number, snapshot: Snapshot, labelsOf: NamespaceLabels): AffinityScores | undefined {
    const scores = new AffinityScores(toSchedule, hardWeight, labelsOf);
    if (prefersPods(toSchedule)) {
      for (const { node, pods } of snapshot.nodes) for (const other of pods) scores.#count(other, node);
    } else {
      for (const { node, podsWithAffinity } of snapshot.nodesWithAffinity) {
        for (const other of podsWithAffinity) scores.#count(other, node);
      }
    }
    return scores.#scores.size === 0 ? undefined : scores;
  }

  /** The scores do not change in what-if questions. */
  clone(): AffinityScores {
    return this;
  }

  score({ node }: NodeInfo): number {
    let score = 0;
    for (const [topologyKey, byDomain] of this.#scores) {
      const domain = labelOf(node.metadata?.labels, topologyKey);
      if (domain !== undefined) score += byDomain.get(domain) ?? 0;
    }
    return score;
  }

  /** The best node gets 100, the worst 0; all of them 0 if they are alike. */
  normalize(scores: number[]): void {
    const lowest = scores.reduce((least, score) => Math.min(least, score), Number.POSITIVE_INFINITY);
    const highest = scores.reduce((most, score) => Math.max(most, score), Number.NEGATIVE_INFINITY);
    for (const [i, score] of scores.entries()) {
      scores[i] = highest > lowest ? Math.trunc(maxNodeScore * ((score - lowest) / (highest - lowest))) : 0;
    }
  }

  #count(other: PodInfo, node: WireNode): void {
    const { pod, preferredAffinityTerms, preferredAntiAffinityTerms } = this.#toSchedule;
    const labels = this.#labelsOf(other.namespace);
    this.#addAll(preferredAffinityTerms, 1, other, labels, node);
    this.#addAll(preferredAntiAffinityTerms, -1, other, labels, node);
    if (this.#hardWeight > 0) {
      for (const term of other.requiredAffinityTerms) {
        if (term.matches(pod, this.#ownNamespace)) this.#add(node, term, this.#hardWeight);
      }
    }
    this.#addAll(other.preferredAffinityTerms, 1, this.#toSchedule, this.#ownNamespace, node);
    this.#addAll(other.preferredAntiAffinityTerms, -1, this.#toSchedule, this.#ownNamespace, node);
  }

  #addAll(
    terms: readonly WeightedAffinityTerm[],
    sign: 1 | -1,
    { pod }: PodInfo,
    namespaceLabels: Labels | undefined,
    node: WireNode,
  ): void {
    for (const term of terms) if (term.matches(pod, namespaceLabels)) this.#add(node, term, sign * term.weight);
  }

  #add(node: WireNode, { topologyKey }: AffinityTerm, weight: number): void {
    const domain = labelOf(node.metadata?.labels, topologyKey);
    if (domain === undefined) return;
    let byDomain = this.#scores.get(topologyKey);
    if (byDomain === undefined) {
      byDomain = new Map();
      this.#scores.set(topologyKey, byDomain);
    }
    byDomain.set(domain, (byDomain.get(domain) ?? 0) + weight);
  }
}

/** True for a pod that would rather be, or rather not be, where some pods are. */
export function prefersPods({ preferredAffinityTerms, preferredAntiAffinityTerms }: PodInfo): boolean {
  return preferredAffinityTerms.length + preferredAntiAffinityTerms.length > 0;
}
