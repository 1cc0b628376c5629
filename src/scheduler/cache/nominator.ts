// Behaviour of pkg/scheduler/backend/queue nominator, v1.36.3.
import type { PodInfo } from '../nodes/pod-info.ts';

interface Nomination {
  readonly info: PodInfo;
  readonly nodeName: string;
}

/** The pods that were promised a node while their victims end. It is known here before the apiserver knows it. */
export class Nominator {
  readonly #byUID = new Map<string, Nomination>();
  readonly #byNode = new Map<string, readonly PodInfo[]>();

  /** How many pods were promised a node. */
  get size(): number {
    return this.#byUID.size;
  }

  /** The nodes that were promised to a pod. */
  nodeNames(): Iterable<string> {
    return this.#byNode.keys();
  }

  /** The pods that were promised this node, in the order in which they were. */
  onNode(nodeName: string): readonly PodInfo[] {
    return this.#byNode.get(nodeName) ?? noPods;
  }

  /** The node that the pod was promised. */
  nodeOf(uid: string): string | undefined {
    return this.#byUID.get(uid)?.nodeName;
  }

  /** Promises the pod a node; an empty name takes the promise back. */
  nominate(info: PodInfo, nodeName: string): void {
    this.delete(info.uid);
    if (nodeName === '') return;
    this.#byUID.set(info.uid, { info, nodeName });
    this.#byNode.set(nodeName, [...this.onNode(nodeName), info]);
  }

  /**
   * Another version of the pod. The node that its status names counts. A promise that no status has named yet stays: the
   * version may be older than the promise.
   */
  set(info: PodInfo): void {
    const before = this.#byUID.get(info.uid);
    const named = info.pod.status?.nominatedNodeName ?? '';
    const namedBefore = before?.info.pod.status?.nominatedNodeName ?? '';
    this.nominate(info, named === '' && namedBefore === '' ? (before?.nodeName ?? '') : named);
  }

  delete(uid: string): void {
    const before = this.#byUID.get(uid);
    if (before === undefined) return;
    this.#byUID.delete(uid);
    const left = this.onNode(before.nodeName).filter((info) => info.uid !== uid);
    if (left.length === 0) this.#byNode.delete(before.nodeName);
    else this.#byNode.set(before.nodeName, left);
  }
}

const noPods: readonly PodInfo[] = [];
