import type { WireNode } from '../../../api/json/types.ts';
import { labelOf } from '../../../api/selectors/label-selector.ts';
import type { StateData } from '../../framework/cycle-state.ts';
import type { Rejection } from '../../framework/status.ts';
import type { Snapshot } from '../../nodes/node-info.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';
import { DomainCounts } from '../common/domain-counts.ts';
import { matchingGroups } from './count-matching.ts';
import type { KnownDomains } from './known-domains.ts';
import { hasTopologyKeys, type Inclusion, includesAllNodes, inclusionFor, type SpreadConstraint } from './spread-constraint.ts';

const broken: Rejection = { code: 'Unschedulable', reasons: ["node(s) didn't match pod topology spread constraints"] };
const noLabel: Rejection = {
  code: 'UnschedulableAndUnresolvable',
  reasons: ["node(s) didn't match pod topology spread constraints (missing required label)"],
};

interface Counted {
  readonly constraint: SpreadConstraint;
  readonly counts: DomainCounts;
  /** 1 where the pod to schedule counts for its own constraint, otherwise 0. */
  readonly own: number;
}

/** How the pods are spread that one pod's constraints count, domain by domain. */
export class SpreadCounts implements StateData<SpreadCounts> {
  readonly #counted: readonly Counted[];
  readonly #constraints: readonly SpreadConstraint[];
  readonly #includes: Inclusion;

  private constructor(counted: readonly Counted[], includes: Inclusion) {
    this.#counted = counted;
    this.#includes = includes;
    this.#constraints = counted.map(({ constraint }) => constraint);
  }

  /** Counts on all nodes that have every topology key and that `pod` could go to. */
  static of(
    { pod, namespace }: PodInfo,
    constraints: readonly SpreadConstraint[],
    snapshot: Snapshot,
    known: KnownDomains,
  ): SpreadCounts {
    const includes = inclusionFor(pod);
    const domains = includesAllNodes(pod, constraints)
      ? known.of(snapshot, constraints)
      : includedDomains(snapshot, constraints, includes);
    const counted = constraints.map((constraint, index) => ({
      constraint,
      counts: domains[index] ?? new DomainCounts(),
      own: constraint.selector.matches(pod.metadata?.labels) ? 1 : 0,
    }));
    for (const { constraint, counts } of counted) {
      for (const group of matchingGroups(snapshot.grouped, constraint.selector, namespace)) {
        for (const [nodeName, pods] of group.nodes) {
          const node = snapshot.get(nodeName)?.node;
          const labels = node?.metadata?.labels;
          if (node === undefined || !hasTopologyKeys(labels, constraints) || !includes(constraint, node)) continue;
          counts.add(labelOf(labels, constraint.topologyKey) ?? '', pods);
        }
      }
    }
    return new SpreadCounts(counted, includes);
  }

  clone(): SpreadCounts {
    const counted = this.#counted.map((each) => ({ ...each, counts: each.counts.clone() }));
    return new SpreadCounts(counted, this.#includes);
  }

  /** One pod more (1) or less (-1) on `node`. */
  change(toSchedule: PodInfo, { namespace, pod }: PodInfo, node: WireNode, by: 1 | -1): void {
    if (namespace !== toSchedule.namespace) return;
    const labels = node.metadata?.labels;
    if (!hasTopologyKeys(labels, this.#constraints)) return;
    for (const { constraint, counts } of this.#counted) {
      if (!constraint.selector.matches(pod.metadata?.labels)) continue;
      if (this.#includes(constraint, node)) counts.add(labelOf(labels, constraint.topologyKey) ?? '', by);
    }
  }

  /** Why the pod must not go to `node`: a domain would have more than `maxSkew` pods over the emptiest one. */
  rejection(node: WireNode): Rejection | undefined {
    const labels = node.metadata?.labels;
    for (const { constraint, counts, own } of this.#counted) {
      const domain = labelOf(labels, constraint.topologyKey);
      if (domain === undefined) return noLabel;
      const fewest = counts.size < constraint.minDomains ? 0 : counts.minimum();
      if (counts.get(domain) + own - fewest > constraint.maxSkew) return broken;
    }
    return undefined;
  }
}

/** The domains of each constraint that the pod could go to, with no pods. */
function includedDomains({ nodes }: Snapshot, constraints: readonly SpreadConstraint[], includes: Inclusion): DomainCounts[] {
  const domains = constraints.map((constraint) => ({ constraint, counts: new DomainCounts() }));
  for (const { node } of nodes) {
    const labels = node.metadata?.labels;
    if (!hasTopologyKeys(labels, constraints)) continue;
    for (const { constraint, counts } of domains) {
      if (includes(constraint, node)) counts.add(labelOf(labels, constraint.topologyKey) ?? '', 0);
    }
  }
  return domains.map(({ counts }) => counts);
}
