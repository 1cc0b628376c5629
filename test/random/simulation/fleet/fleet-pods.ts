/** What a client has of the pods of some nodes: of each the version of its status, and the revision that a write must name. */
export interface PodCopies {
  readonly versions: Int32Array;
  readonly revisions: Int32Array;
}

/** A pod that does not exist on the server yet. */
export const notBound = -1;

/** The pods of the fleet's nodes on the server. The version of a status is that of the pod's state in the cloud; 0: it has none yet. */
export class FleetPods {
  readonly podsPerNode: number;
  readonly #versions: Int32Array;
  readonly #revisions: Int32Array;

  /** `isThere`: the pods that run already, in their first state. */
  constructor(nodes: number, podsPerNode: number, isThere: (pod: number) => boolean) {
    this.podsPerNode = podsPerNode;
    this.#versions = Int32Array.from({ length: nodes * podsPerNode }, (_, pod) => (isThere(pod) ? 1 : notBound));
    this.#revisions = new Int32Array(nodes * podsPerNode);
  }

  /** The pod is on the server from now on. False where it was before. */
  bind(pod: number): boolean {
    if (this.versionOf(pod) !== notBound) return false;
    this.#versions[pod] = 0;
    return true;
  }

  versionOf(pod: number): number {
    return this.#versions[pod] ?? notBound;
  }

  read(pod: number): { readonly version: number; readonly revision: number } {
    return { version: this.versionOf(pod), revision: this.#revisions[pod] ?? 0 };
  }

  /** All pods of the nodes, one node after the other. */
  list(nodes: readonly number[]): PodCopies {
    const { podsPerNode } = this;
    const copies = {
      versions: new Int32Array(nodes.length * podsPerNode),
      revisions: new Int32Array(nodes.length * podsPerNode),
    };
    for (const [place, node] of nodes.entries()) {
      const [from, to] = [node * podsPerNode, (node + 1) * podsPerNode];
      copies.versions.set(this.#versions.subarray(from, to), place * podsPerNode);
      copies.revisions.set(this.#revisions.subarray(from, to), place * podsPerNode);
    }
    return copies;
  }

  /** Takes the version if `revision` is still that of the pod. Returns the one before; undefined where the server refuses. */
  write(pod: number, revision: number, version: number): number | undefined {
    const before = this.read(pod);
    if (before.revision !== revision) return undefined;
    this.#versions[pod] = version;
    this.#revisions[pod] = revision + 1;
    return before.version;
  }
}
