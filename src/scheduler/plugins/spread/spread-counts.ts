import type { WireNode } from '../../../api/json/types.ts';
import { type LabelSelector, labelOf } from '../../../api/selectors/label-selector.ts';
import type { StateData } from '../../framework/cycle-state.ts';
import { type CheckReasons, DomainCheck } from '../../framework/domain-check.ts';
import type { NodePlaces } from '../../framework/node-places.ts';
import type { Rejection } from '../../framework/plugin.ts';
import type { Snapshot } from '../../nodes/node-info.ts';
import type { GroupedPods, PodGroup } from '../../nodes/pod-index.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';
import { DomainCounts, podsByDomain } from '../common.ts';
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
    const areAllIncluded = includesAllNodes(pod, constraints);
    // with one key the nodes that have a domain are those that count
    const hasOneKey = new Set(constraints.map(({ topologyKey }) => topologyKey)).size === 1;
    const domains = areAllIncluded ? known.of(snapshot, constraints) : includedDomains(snapshot, constraints, includes);
    const counted = constraints.map((constraint, index) => ({
      constraint,
      counts: domains[index] ?? new DomainCounts(),
      own: constraint.selector.matches(pod.metadata?.labels) ? 1 : 0,
    }));
    for (const { constraint, counts } of counted) {
      for (const group of matchingGroups(snapshot.grouped, constraint.selector, namespace)) {
        if (areAllIncluded && hasOneKey) {
          for (const [domain, pods] of podsByDomain(group.nodes, constraint.topologyKey, snapshot)) counts.add(domain, pods);
          continue;
        }
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
    for (const each of this.#counted) {
      const domain = labelOf(labels, each.constraint.topologyKey);
      if (domain === undefined) return noLabel;
      if (isTooFull(each, domain)) return broken;
    }
    return undefined;
  }

  /** As {@link rejection}, by places; undefined where the domains are not known by their places. The counts must not change any more. */
  byPlace(places: NodePlaces): readonly DomainCheck[] | undefined {
    const checks: DomainCheck[] = [];
    for (const each of this.#counted) {
      const domains = places.domains(each.constraint.topologyKey);
      if (domains === undefined) return undefined;
      checks.push(DomainCheck.asking(domains, reasons, (domain) => isTooFull(each, domains.names[domain] as string)));
    }
    return checks;
  }
}

const reasons: CheckReasons = { rejection: broken, lacking: noLabel };

/** True where the domain would have more than `maxSkew` pods over the emptiest one. */
function isTooFull({ constraint, counts, own }: Counted, domain: string): boolean {
  const fewest = counts.size < constraint.minDomains ? 0 : counts.minimum();
  return counts.get(domain) + own - fewest > constraint.maxSkew;
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

/** The groups of pods that count: see {@link countMatching}. */
export function* matchingGroups(grouped: GroupedPods, selector: LabelSelector, namespace: string): Generator<PodGroup> {
  if (selector.matchesAll) return;
  for (const group of grouped.groups()) {
    const { pod, namespace: own } = group.sample;
    if (own !== namespace || pod.metadata?.deletionTimestamp != null) continue;
    if (selector.matches(pod.metadata?.labels)) yield group;
  }
}

/** How many pods of the namespace match. Pods that are being deleted do not count, and for a selector that matches all none does. */
export function countMatching(pods: readonly PodInfo[], selector: LabelSelector, namespace: string): number {
  if (selector.matchesAll) return 0;
  let count = 0;
  for (const other of pods) {
    const { metadata } = other.pod;
    if (other.namespace !== namespace || metadata?.deletionTimestamp != null) continue;
    if (selector.matches(metadata?.labels)) count += 1;
  }
  return count;
}

/** Lists of keys that are remembered at a time: pods of one cluster rarely have more. */
const mostLists = 100;

/** The domains of all nodes that have a list of topology keys. They are found out again when labels of nodes change. */
export class KnownDomains {
  #snapshot: Snapshot | undefined;
  #labelsVersion = -1;
  readonly #byKeys = new Map<string, readonly DomainCounts[]>();

  /** The domains of each constraint, with no pods. */
  of(snapshot: Snapshot, constraints: readonly SpreadConstraint[]): readonly DomainCounts[] {
    if (this.#snapshot !== snapshot || this.#labelsVersion !== snapshot.labelsVersion) {
      this.#byKeys.clear();
      this.#snapshot = snapshot;
      this.#labelsVersion = snapshot.labelsVersion;
    }
    const key = JSON.stringify(constraints.map(({ topologyKey }) => topologyKey));
    let domains = this.#byKeys.get(key);
    if (domains === undefined) {
      domains = domainsOf(snapshot, constraints);
      if (this.#byKeys.size >= mostLists) this.#byKeys.clear();
      this.#byKeys.set(key, domains);
    }
    return domains.map((counts) => counts.clone());
  }
}

function domainsOf({ nodes }: Snapshot, constraints: readonly SpreadConstraint[]): readonly DomainCounts[] {
  const domains = constraints.map(({ topologyKey }) => ({ topologyKey, counts: new DomainCounts() }));
  for (const { node } of nodes) {
    const labels = node.metadata?.labels;
    if (!hasTopologyKeys(labels, constraints)) continue;
    for (const { topologyKey, counts } of domains) counts.add(labelOf(labels, topologyKey) ?? '', 0);
  }
  return domains.map(({ counts }) => counts);
}
