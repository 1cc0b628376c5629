import type { WireNode } from '../../../api/json/types.ts';
import { type LabelSelector, type Labels, labelOf, selectorFromLabels } from '../../../api/selectors/label-selector.ts';
import type { StateData } from '../../framework/cycle-state.ts';
import type { NodeInfo, Snapshot } from '../../nodes/node-info.ts';
import type { PodInfo } from '../../nodes/pod-info.ts';

interface Neighbour {
  readonly uid: string;
  readonly node: WireNode;
}

/** Which labels a node must have so that a pod comes to the other pods of its services. */
export class ServiceNeighbours implements StateData<ServiceNeighbours> {
  readonly #namespace: string;
  /** Has the labels that the pod's nodeSelector fixes. */
  readonly #fixed: Labels;
  /** Labels whose values the first neighbour's node fixes. Empty where no service selects the pod. */
  readonly #open: readonly string[];
  readonly #selector: LabelSelector;
  /** Pods with all of the pod's labels, in the order of nodes and then of pods. */
  #neighbours: readonly Neighbour[];
  #wanted: LabelSelector | undefined;

  private constructor(
    namespace: string,
    fixed: Labels,
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

  #labels(): Labels {
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
