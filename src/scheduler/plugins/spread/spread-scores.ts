import { labelOf } from '../../../api/selectors/label-selector.ts';
import type { StateData } from '../../framework/cycle-state.ts';
import { maxNodeScore } from '../../framework/plugin.ts';
import type { NodeInfo, Snapshot } from '../../nodes/node-info.ts';
import type { PodsByNode } from '../../nodes/pod-index.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';
import { hostname } from '../common.ts';
import { hasTopologyKeys, inclusionFor, type SpreadConstraint } from './spread-constraint.ts';
import { matchingGroups } from './spread-counts.ts';

const none: PodsByNode = new Map([]);

interface Counted {
  readonly constraint: SpreadConstraint;
  /** Pods by domain, for the domains of the nodes to score; undefined where each node is a domain of its own. */
  readonly counts: Map<string, number> | undefined;
  /** Pods by node, where each node is a domain of its own. */
  readonly onNode: PodsByNode;
  /** Domains count for more where there are many of them. */
  readonly weight: number;
}

/** How much a pod would unbalance each node's domains: more is worse, until the scores are normalised. */
export class SpreadScores implements StateData<SpreadScores> {
  readonly #counted: readonly Counted[];
  /** Names of nodes that lack a topology key: they score 0. */
  readonly #ignored: ReadonlySet<string>;

  private constructor(counted: readonly Counted[], ignored: ReadonlySet<string>) {
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
      const onNode = counts === undefined ? podsByNode(constraint, pod.namespace, snapshot) : none;
      return { constraint, counts, onNode, weight: Math.log(size + 2) };
    });
    const includes = inclusionFor(pod.pod);
    for (const { constraint, counts } of counted) {
      if (counts === undefined) continue;
      const isCounted = (node: NodeInfo) => !lacksKey(node) && includes(constraint, node.node);
      countPods(counts, constraint, isCounted, pod.namespace, snapshot);
    }
    return new SpreadScores(counted, ignored);
  }

  /** The scores do not change in what-if questions. */
  clone(): SpreadScores {
    return this;
  }

  /** Not rounded yet. */
  score({ name, node }: NodeInfo): number {
    if (this.#ignored.has(name)) return 0;
    let score = 0;
    for (const { constraint, counts, onNode, weight } of this.#counted) {
      const domain = labelOf(node.metadata?.labels, constraint.topologyKey);
      if (domain === undefined) continue;
      const count = (counts === undefined ? onNode.get(name) : counts.get(domain)) ?? 0;
      score += count * weight + (constraint.maxSkew - 1);
    }
    return score;
  }

  /** The emptiest node gets 100. */
  normalize(scores: number[], nodes: readonly NodeInfo[]): void {
    normalizeSpread(scores, (index) => this.#ignored.size > 0 && this.#ignored.has(nodes[index]?.name ?? ''));
  }
}

/** The emptiest node gets 100, and nodes that are ignored 0. */
export function normalizeSpread(scores: number[], isIgnored?: (index: number) => boolean): void {
  let lowest = Number.POSITIVE_INFINITY;
  let highest = 0;
  for (let index = 0; index < scores.length; index += 1) {
    if (isIgnored?.(index)) continue;
    const score = scores[index] as number;
    if (score < lowest) lowest = score;
    if (score > highest) highest = score;
  }
  for (let index = 0; index < scores.length; index += 1) {
    if (isIgnored?.(index)) scores[index] = 0;
    else if (highest === 0) scores[index] = maxNodeScore;
    else scores[index] = Math.trunc((maxNodeScore * (highest + lowest - (scores[index] as number))) / highest);
  }
}

/** The domains of the nodes to score, with no pods yet. Nodes without the label are one domain, too. */
function domains({ topologyKey }: SpreadConstraint, nodes: readonly NodeInfo[], ignored: ReadonlySet<string>) {
  const counts = new Map<string, number>();
  for (const { name, node } of nodes) if (!ignored.has(name)) counts.set(labelOf(node.metadata?.labels, topologyKey) ?? '', 0);
  return counts;
}

/** The pods that the constraint counts, by the node's name. */
export function podsByNode({ selector }: SpreadConstraint, namespace: string, { grouped }: Snapshot): PodsByNode {
  const [first, ...others] = matchingGroups(grouped, selector, namespace);
  if (first === undefined) return none;
  if (others.length === 0) return first.nodes;
  const sum = new Map(first.nodes);
  for (const { nodes } of others) for (const [name, pods] of nodes) sum.set(name, (sum.get(name) ?? 0) + pods);
  return sum;
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
