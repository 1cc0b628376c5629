// Behaviour of pkg/scheduler/framework/plugins/serviceaffinity, v1.22.17.

import type { V1Service } from '@kubernetes/client-node';
import type { Wire, WireNode } from '../../../api/json/types.ts';
import { type LabelSelector, type LabelSet, labelOf, selectorFromLabels } from '../../../api/selectors/label-selector.ts';
import { resources } from '../../../client/resources/api-resource.ts';
import type { ObjectLister } from '../../framework/cluster-objects.ts';
import { type CycleState, type StateData, stateKey } from '../../framework/cycle-state.ts';
import {
  type ClusterEventWithHint,
  maxNodeScore,
  type Plugin,
  type PluginHandle,
  type Rejection,
} from '../../framework/plugin.ts';
import { type NodeInfo, type Snapshot, zoneKeyOf } from '../../nodes/node-info.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';
import { defaultSelector, selectingObjects } from '../../plugins/spread/spread-constraint.ts';
import { countMatching } from '../../plugins/spread/spread-counts.ts';

export interface ServiceAffinityArgs {
  /** The pods of a service are to be on nodes with the same values of these. */
  readonly affinityLabels: readonly string[];
  /** The pods of a service are to be spread over the values of these. */
  readonly antiAffinityLabels: readonly string[];
}

type ServiceLister = ObjectLister<Wire<V1Service>>;

const rejection: Rejection = { code: 'Unschedulable', reasons: ["node(s) didn't match service affinity"] };
const neighboursKey = stateKey<ServiceNeighbours>('ServiceAffinity');
const events: readonly ClusterEventWithHint[] = [
  { resource: 'Pod', actions: ['UpdatePodLabel', 'Delete'] },
  { resource: 'Node', actions: ['Add', 'UpdateNodeLabel'] },
  { resource: 'Service', actions: ['Update', 'Delete'] },
];

/** The predicates with `serviceAffinity` and the priorities with `serviceAntiAffinity` of one policy file, all of them together. */
export function serviceAffinity({ affinityLabels, antiAffinityLabels }: ServiceAffinityArgs, handle: PluginHandle): Plugin {
  const services = handle.objects(resources.services);
  return {
    name: 'ServiceAffinity',
    eventsToRegister: () => events,
    preFilter(state, pod, snapshot) {
      if (affinityLabels.length === 0) return 'skip';
      const hasServices = () => servicesOf(pod, services).length > 0;
      state.write(neighboursKey, ServiceNeighbours.of(pod, affinityLabels, snapshot, hasServices));
      return undefined;
    },
    addPod: (state, _toSchedule, pod, node) => neighboursIn(state)?.add(pod, node),
    removePod: (state, _toSchedule, pod) => neighboursIn(state)?.remove(pod),
    filter: (state, _pod, { node }) => (neighboursIn(state)?.allows(node) === false ? rejection : undefined),
    score: (_state, pod, { pods }) => (pods.length === 0 ? 0 : countMatching(pods, firstSelector(pod, services), pod.namespace)),
    normalizeScores(_state, _pod, scores, nodes) {
      const valuesOf = (label: string) => nodes.map(({ node }) => labelOf(node.metadata?.labels, label));
      const spread = spreadOverLabels(scores, antiAffinityLabels.map(valuesOf));
      for (const [index, score] of spread.entries()) scores[index] = score;
    },
  };
}

function neighboursIn(state: CycleState): ServiceNeighbours | undefined {
  return state.read(neighboursKey);
}

/** Only the first service counts. */
function firstSelector(pod: PodInfo, services: ServiceLister): LabelSelector {
  const [first] = servicesOf(pod, services);
  return selectorFromLabels(first?.spec?.selector);
}

interface Neighbour {
  readonly uid: string;
  readonly node: WireNode;
}

/** Which labels a node must have so that a pod comes to the other pods of its services. */
class ServiceNeighbours implements StateData<ServiceNeighbours> {
  readonly #namespace: string;
  /** Has the labels that the pod's nodeSelector fixes. */
  readonly #fixed: LabelSet;
  /** Labels whose values the first neighbour's node fixes. Empty where no service selects the pod. */
  readonly #open: readonly string[];
  readonly #selector: LabelSelector;
  /** Pods with all of the pod's labels, in the order of nodes and then of pods. */
  #neighbours: readonly Neighbour[];
  #wanted: LabelSelector | undefined;

  private constructor(
    namespace: string,
    fixed: LabelSet,
    open: readonly string[],
    selector: LabelSelector,
    neighbours: readonly Neighbour[],
  ) {
    this.#namespace = namespace;
    this.#fixed = fixed;
    this.#open = open;
    this.#selector = selector;
    this.#neighbours = neighbours;
  }

  /** `hasServices` is asked, and the pods of all nodes are looked at, only where the pod itself leaves a label open. */
  static of(
    { pod, namespace }: PodInfo,
    labels: readonly string[],
    { nodes }: Snapshot,
    hasServices: () => boolean,
  ): ServiceNeighbours {
    const fixed: Record<string, string> = {};
    for (const label of labels) {
      const value = labelOf(pod.spec?.nodeSelector, label);
      if (value !== undefined) fixed[label] = value;
    }
    const missing = labels.filter((label) => fixed[label] === undefined);
    const open = missing.length > 0 && hasServices() ? missing : [];
    const selector = selectorFromLabels(pod.metadata?.labels);
    const found = open.length === 0 ? [] : nodes.flatMap(({ node, pods }) => neighboursOn(node, pods, namespace, selector));
    return new ServiceNeighbours(namespace, fixed, open, selector, found);
  }

  clone(): ServiceNeighbours {
    return new ServiceNeighbours(this.#namespace, this.#fixed, this.#open, this.#selector, this.#neighbours);
  }

  add(pod: PodInfo, { node }: NodeInfo): void {
    if (this.#open.length === 0) return;
    this.#neighbours = [...this.#neighbours, ...neighboursOn(node, [pod], this.#namespace, this.#selector)];
    this.#wanted = undefined;
  }

  remove({ uid }: PodInfo): void {
    this.#neighbours = this.#neighbours.filter((neighbour) => neighbour.uid !== uid);
    this.#wanted = undefined;
  }

  allows({ metadata }: WireNode): boolean {
    this.#wanted ??= selectorFromLabels(this.#labels());
    return this.#wanted.matches(metadata?.labels);
  }

  #labels(): LabelSet {
    const labels: Record<string, string> = { ...this.#fixed };
    const theirs = this.#neighbours[0]?.node.metadata?.labels;
    for (const label of this.#open) {
      const value = labelOf(theirs, label);
      if (value !== undefined) labels[label] = value;
    }
    return labels;
  }
}

function neighboursOn(node: WireNode, pods: readonly PodInfo[], namespace: string, selector: LabelSelector): Neighbour[] {
  return pods
    .filter((other) => other.namespace === namespace && selector.matches(other.pod.metadata?.labels))
    .map(({ uid }) => ({ uid, node }));
}

// Behaviour of pkg/scheduler/framework/plugins/selectorspread, v1.22.17.

/** How much the zones count, where nodes have them; the rest is the nodes' own part. */
const zoneShare = 2 / 3;

interface Selected extends StateData<Selected> {
  readonly selector: LabelSelector;
}

const selectedKey = stateKey<Selected>('SelectorSpread');

/** Spreads the pods of one service or controller over nodes and zones. A pod with spread constraints of its own scores 0 everywhere. */
export function selectorSpread(handle: PluginHandle): Plugin {
  const selecting = selectingObjects(handle);
  return {
    name: 'SelectorSpread',
    eventsToRegister: () => [],
    preScore(state, pod) {
      if (spreadsItself(pod)) return undefined;
      const selected: Selected = { selector: defaultSelector(pod.pod, selecting), clone: () => selected };
      state.write(selectedKey, selected);
      return undefined;
    },
    score(state, { namespace }, { pods }) {
      const selected = state.read(selectedKey);
      return selected === undefined ? 0 : countMatching(pods, selected.selector, namespace);
    },
    normalizeScores(_state, pod, scores, nodes) {
      if (spreadsItself(pod)) return;
      const spread = spreadOverZones(
        scores,
        nodes.map(({ node }) => zoneKeyOf(node)),
      );
      for (const [index, score] of spread.entries()) scores[index] = score;
    },
  };
}

/** Scores from numbers of pods, and the zone of each node; empty text is no zone. */
function spreadOverZones(pods: readonly number[], zones: readonly string[]): number[] {
  const podsByZone = new Map<string, number>();
  for (const [index, zone] of zones.entries()) {
    if (zone !== '') podsByZone.set(zone, (podsByZone.get(zone) ?? 0) + (pods[index] ?? 0));
  }
  const mostOnNode = Math.max(0, ...pods);
  const mostInZone = Math.max(0, ...podsByZone.values());
  return pods.map((count, index) => {
    const own = share(count, mostOnNode);
    const inZone = podsByZone.get(zones[index] ?? '');
    return Math.trunc(inZone === undefined ? own : own * (1 - zoneShare) + zoneShare * share(inZone, mostInZone));
  });
}

function share(count: number, most: number): number {
  return most > 0 ? maxNodeScore * ((most - count) / most) : maxNodeScore;
}

function spreadsItself({ pod }: PodInfo): boolean {
  return (pod.spec?.topologySpreadConstraints ?? []).length > 0;
}

/**
 * Scores from numbers of pods: for each label the share of pods that are elsewhere than on nodes with the node's value, and the
 * mean over the labels. `values` has for each label the value of each node; a node without the label scores 0 for it.
 */
function spreadOverLabels(pods: readonly number[], values: readonly (readonly (string | undefined)[])[]): number[] {
  const all = pods.reduce((sum, count) => sum + count, 0);
  const scores = pods.map(() => 0);
  for (const byNode of values) {
    const podsByValue = new Map<string, number>();
    for (const [index, count] of pods.entries()) {
      const value = byNode[index];
      if (value !== undefined) podsByValue.set(value, (podsByValue.get(value) ?? 0) + count);
    }
    for (const [index, before] of scores.entries()) {
      const value = byNode[index];
      if (value === undefined) continue;
      const elsewhere = all - (podsByValue.get(value) ?? 0);
      const score = all > 0 ? maxNodeScore * (elsewhere / all) : maxNodeScore;
      scores[index] = before + score / values.length;
    }
  }
  return scores.map(Math.trunc);
}

/** The services of the pod's namespace that select it. One without a selector selects no pod, one with an empty selector every pod. */
function servicesOf({ pod, namespace }: PodInfo, services: ServiceLister): readonly Wire<V1Service>[] {
  return services.list(namespace).filter(({ spec }) => {
    const { selector } = spec ?? {};
    return selector != null && selectorFromLabels(selector).matches(pod.metadata?.labels);
  });
}
