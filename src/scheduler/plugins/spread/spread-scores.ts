import { labelOf } from '../../../placement/requirement.ts';
import type { StateData } from '../../framework/cycle-state.ts';
import { maxNodeScore } from '../../framework/plugin.ts';
import type { NodeInfo, Snapshot } from '../../nodes/node-info.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';
import { countMatching, matchingGroups } from './count-matching.ts';
import { hasTopologyKeys, inclusionFor, type SpreadConstraint } from './spread-constraint.ts';

const hostname = 'kubernetes.io/hostname';

interface Counted {
  readonly constraint: SpreadConstraint;
  /** Pods by domain, for the domains of the nodes to score. Nodes are domains of their own and counted when they are scored. */
  readonly counts: Map<string, number> | undefined;
  /** Domains count for more where there are many of them. */
  readonly weight: number;
}

/** How much a pod would unbalance each node's domains: more is worse, until the scores are normalised. */
export class SpreadScores implements StateData<SpreadScores> {
  readonly #namespace: string;
  readonly #counted: readonly Counted[];
  /** Names of nodes that lack a topology key: they score 0. */
  readonly #ignored: ReadonlySet<string>;

  private constructor(namespace: string, counted: readonly Counted[], ignored: ReadonlySet<string>) {
    this.#namespace = namespace;
    this.#counted = counted;
    this.#ignored = ignored;
  }

  /** `needsAllKeys`: nodes that lack a topology key are neither scored nor counted. */
  static of(
    pod: PodInfo,
    constraints: readonly SpreadConstraint[],
    nodes: readonly NodeInfo[],
    snapshot: Snapshot,
    needsAllKeys: boolean,
  ): SpreadScores {
    const lacksKey = ({ node }: NodeInfo) => needsAllKeys && !hasTopologyKeys(node.metadata?.labels, constraints);
    const ignored = new Set(nodes.filter(lacksKey).map(({ name }) => name));
    const counted = constraints.map((constraint) => {
      const counts = constraint.topologyKey === hostname ? undefined : domains(constraint, nodes, ignored);
      const size = counts?.size ?? nodes.length - ignored.size;
      return { constraint, counts, weight: Math.log(size + 2) };
    });
    const includes = inclusionFor(pod.pod);
    for (const { constraint, counts } of counted) {
      if (counts === undefined) continue;
      const isCounted = (node: NodeInfo) => !lacksKey(node) && includes(constraint, node.node);
      countPods(counts, constraint, isCounted, pod.namespace, snapshot);
    }
    return new SpreadScores(pod.namespace, counted, ignored);
  }

  /** The scores do not change in what-if questions. */
  clone(): SpreadScores {
    return this;
  }

  /** Not rounded yet. */
  score({ name, node, pods }: NodeInfo): number {
    if (this.#ignored.has(name)) return 0;
    let score = 0;
    for (const { constraint, counts, weight } of this.#counted) {
      const domain = labelOf(node.metadata?.labels, constraint.topologyKey);
      if (domain === undefined) continue;
      const count = counts?.get(domain) ?? (counts ? 0 : countMatching(pods, constraint.selector, this.#namespace));
      score += count * weight + (constraint.maxSkew - 1);
    }
    return score;
  }

  /** The emptiest node gets 100. */
  normalize(scores: number[], nodes: readonly NodeInfo[]): void {
    let lowest = Number.POSITIVE_INFINITY;
    let highest = 0;
    for (const [i, score] of scores.entries()) {
      if (this.#ignored.has(nodes[i]?.name ?? '')) continue;
      lowest = Math.min(lowest, score);
      highest = Math.max(highest, score);
    }
    for (const [i, score] of scores.entries()) {
      if (this.#ignored.has(nodes[i]?.name ?? '')) scores[i] = 0;
      else if (highest === 0) scores[i] = maxNodeScore;
      else scores[i] = Math.trunc((maxNodeScore * (highest + lowest - score)) / highest);
    }
  }
}

/** The domains of the nodes to score, with no pods yet. Nodes without the label are one domain, too. */
function domains({ topologyKey }: SpreadConstraint, nodes: readonly NodeInfo[], ignored: ReadonlySet<string>) {
  const counts = new Map<string, number>();
  for (const { name, node } of nodes) if (!ignored.has(name)) counts.set(labelOf(node.metadata?.labels, topologyKey) ?? '', 0);
  return counts;
}

/** Adds the pods that the constraint counts to those domains that are in `counts`. */
function countPods(
  counts: Map<string, number>,
  { selector, topologyKey }: SpreadConstraint,
  isCounted: (node: NodeInfo) => boolean,
  namespace: string,
  snapshot: Snapshot,
): void {
  for (const group of matchingGroups(snapshot.grouped, selector, namespace)) {
    for (const [nodeName, pods] of group.nodes) {
      const node = snapshot.get(nodeName);
      if (node === undefined) continue;
      const domain = labelOf(node.node.metadata?.labels, topologyKey) ?? '';
      const before = counts.get(domain);
      if (before !== undefined && isCounted(node)) counts.set(domain, before + pods);
    }
  }
}
