import { createHistogram } from 'node:perf_hooks';
import type { WirePod } from 'pod-status-manager';
import type { SizedNode } from './demo-nodes.ts';
import { type Amounts, requestsOf } from './demo-pods.ts';

/** A change of a pod, as the server's store tells it. */
export interface PodChange {
  readonly type: string;
  readonly object: WirePod;
  readonly previous: WirePod | undefined;
}

/** What is on a node. */
export interface Load extends Amounts {
  readonly pods: number;
}

/** Follows where every pod is, and notes what must not happen: a pod that changes its node, or a node that is too full. */
export class Placements {
  /** Pods that were given a node. */
  placed = 0;
  /** What went wrong, one sentence each. */
  readonly problems: string[] = [];
  readonly #nodes: ReadonlyMap<string, SizedNode>;
  readonly #loads: Map<string, Load>;
  readonly #createdAt = new Map<string, number>();
  /** The pods that take room on a node, by uid. */
  readonly #onNodes = new Map<string, string>();
  /** In microseconds. */
  readonly #waits = createHistogram();
  readonly #now: () => number;

  /** `now`: milliseconds of any clock. */
  constructor(nodes: readonly SizedNode[], now: () => number) {
    this.#nodes = new Map(nodes.map((node) => [node.name, node]));
    this.#loads = new Map(nodes.map(({ name }) => [name, { milliCPU: 0, memoryMiB: 0, pods: 0 }]));
    this.#now = now;
  }

  note({ type, object, previous }: PodChange): void {
    const { name = '', uid = '' } = object.metadata ?? {};
    const [before, after] = [previous?.spec?.nodeName, object.spec?.nodeName];
    if (type === 'ADDED') this.#createdAt.set(uid, this.#now());
    if (after !== undefined && before === undefined && type !== 'DELETED') this.#place(object, after);
    else if (after !== before) this.problems.push(`${name} was on ${before}, and is on ${after ?? 'no node'}`);
    if (type === 'DELETED' || isOver(object)) this.#free(object);
  }

  load(nodeName: string): Load {
    return this.#loads.get(nodeName) ?? { milliCPU: 0, memoryMiB: 0, pods: 0 };
  }

  /** Milliseconds from a pod's creation to its node, at the median; undefined before the first pod has one. */
  medianWaitMs(): number | undefined {
    return this.#waits.count === 0 ? undefined : this.#waits.percentile(50) / 1000;
  }

  #place(pod: WirePod, nodeName: string): void {
    const node = this.#nodes.get(nodeName);
    const { name = '', uid = '' } = pod.metadata ?? {};
    if (node === undefined) {
      this.problems.push(`${name} is on ${nodeName}, which is no node`);
      return;
    }
    this.placed++;
    this.#onNodes.set(uid, nodeName);
    this.#waits.record(Math.max(1, Math.round((this.#now() - (this.#createdAt.get(uid) ?? this.#now())) * 1000)));
    const { milliCPU, memoryMiB } = this.#change(nodeName, pod, 1);
    if (milliCPU > node.has.milliCPU) this.problems.push(`${name} took more CPU than ${nodeName} had left`);
    if (memoryMiB > node.has.memoryMiB) this.problems.push(`${name} took more memory than ${nodeName} had left`);
  }

  #free(pod: WirePod): void {
    const { uid = '' } = pod.metadata ?? {};
    const nodeName = this.#onNodes.get(uid);
    this.#onNodes.delete(uid);
    this.#createdAt.delete(uid);
    if (nodeName !== undefined) this.#change(nodeName, pod, -1);
  }

  #change(nodeName: string, pod: WirePod, sign: 1 | -1): Load {
    const before = this.load(nodeName);
    const { milliCPU, memoryMiB } = requestsOf(pod);
    const after = {
      milliCPU: before.milliCPU + sign * milliCPU,
      memoryMiB: before.memoryMiB + sign * memoryMiB,
      pods: before.pods + sign,
    };
    this.#loads.set(nodeName, after);
    return after;
  }
}

/** Such a pod takes no room any more, although it is still there. */
function isOver({ status }: WirePod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
