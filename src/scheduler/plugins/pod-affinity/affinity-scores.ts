import { type LabelSet, labelOf } from '../../../api/selectors/label-selector.ts';
import type { StateData } from '../../framework/cycle-state.ts';
import { type NodePlaces, noDomain } from '../../framework/node-places.ts';
import type { PlaceScore } from '../../framework/placed-plugin.ts';
import { maxNodeScore } from '../../framework/plugin.ts';
import type { NodeInfo, Snapshot } from '../../nodes/node-info.ts';
import type { PodsByNode } from '../../nodes/pod-index.ts';
import type { AffinityTerm, PodInfo } from '../../nodes/pod-info.ts';
import { podsByDomain } from '../common.ts';
import type { NamespaceLabels } from './affinity-counts.ts';

/** How much one pod likes each domain, by what it prefers and by what the pods there prefer. */
export class AffinityScores implements StateData<AffinityScores> {
  readonly #toSchedule: PodInfo;
  readonly #labelsOf: NamespaceLabels;
  /** The labels of the namespace of the pod to schedule. */
  readonly #ownNamespace: LabelSet;
  /** By topology key and domain. */
  readonly #scores = new Map<string, Map<string, number>>();

  private constructor(toSchedule: PodInfo, labelsOf: NamespaceLabels) {
    this.#toSchedule = toSchedule;
    this.#labelsOf = labelsOf;
    this.#ownNamespace = labelsOf(toSchedule.namespace) ?? {};
  }

  /** Undefined where no term speaks of anybody. `hardWeight`: what a required affinity of a pod that is there counts. */
  static of(toSchedule: PodInfo, hardWeight: number, snapshot: Snapshot, labelsOf: NamespaceLabels): AffinityScores | undefined {
    const scores = new AffinityScores(toSchedule, labelsOf);
    for (const { term, weight = hardWeight, nodes } of snapshot.grouped.preferences()) {
      if (weight !== 0 && term.matches(toSchedule.pod, scores.#ownNamespace)) scores.#addAll(term, weight, nodes, snapshot);
    }
    if (prefersPods(toSchedule)) {
      for (const { sample, nodes } of snapshot.grouped.groups()) scores.#addPreferred(sample, nodes, snapshot);
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

  /** As {@link score}, by places; undefined where the domains are not known by their places. */
  byPlace(places: NodePlaces): PlaceScore | undefined {
    const parts: { readonly at: Int32Array; readonly scores: Float64Array }[] = [];
    for (const [topologyKey, byDomain] of this.#scores) {
      const domains = places.domains(topologyKey);
      if (domains === undefined) return undefined;
      const scores = new Float64Array(domains.names.length);
      for (const [name, score] of byDomain) {
        const number = domains.numbers.get(name);
        if (number !== undefined) scores[number] = score;
      }
      parts.push({ at: domains.at, scores });
    }
    return (place) => {
      let score = 0;
      for (const { at, scores } of parts) {
        const domain = at[place] as number;
        if (domain !== noDomain) score += scores[domain] as number;
      }
      return score;
    };
  }

  /** The best node gets 100, the worst 0; all of them 0 if they are alike. */
  normalize(scores: number[]): void {
    const lowest = scores.reduce((least, score) => Math.min(least, score), Number.POSITIVE_INFINITY);
    const highest = scores.reduce((most, score) => Math.max(most, score), Number.NEGATIVE_INFINITY);
    for (const [i, score] of scores.entries()) {
      scores[i] = highest > lowest ? Math.trunc(maxNodeScore * ((score - lowest) / (highest - lowest))) : 0;
    }
  }

  /** What the pod thinks of such pods. */
  #addPreferred(sample: PodInfo, nodes: PodsByNode, snapshot: Snapshot): void {
    const { preferredAffinityTerms, preferredAntiAffinityTerms } = this.#toSchedule;
    const labels = this.#labelsOf(sample.namespace);
    for (const term of preferredAffinityTerms) {
      if (term.matches(sample.pod, labels)) this.#addAll(term, term.weight, nodes, snapshot);
    }
    for (const term of preferredAntiAffinityTerms) {
      if (term.matches(sample.pod, labels)) this.#addAll(term, -term.weight, nodes, snapshot);
    }
  }

  #addAll({ topologyKey }: AffinityTerm, weight: number, nodes: PodsByNode, snapshot: Snapshot): void {
    const counts = podsByDomain(nodes, topologyKey, snapshot);
    if (counts.size === 0) return;
    const byDomain = this.#scores.get(topologyKey) ?? new Map<string, number>();
    this.#scores.set(topologyKey, byDomain);
    for (const [domain, pods] of counts) byDomain.set(domain, (byDomain.get(domain) ?? 0) + weight * pods);
  }
}

/** True for a pod that would rather be, or rather not be, where some pods are. */
export function prefersPods({ preferredAffinityTerms, preferredAntiAffinityTerms }: PodInfo): boolean {
  return preferredAffinityTerms.length + preferredAntiAffinityTerms.length > 0;
}
