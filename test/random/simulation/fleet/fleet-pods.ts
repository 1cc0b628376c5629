/** The pods of the fleet's nodes on the server: of each its version, and the revision that a write must name. */
export class FleetPods {
  readonly podsPerNode: number;
  readonly #versions: Int32Array;
  readonly #revisions: Int32Array;

  constructor(nodes: number, podsPerNode: number) {
    this.podsPerNode = podsPerNode;
    this.#versions = new Int32Array(nodes * podsPerNode);
    this.#revisions = new Int32Array(nodes * podsPerNode);
  }

  read(pod: number): { readonly version: number; readonly revision: number } {
    return { version: this.#versions[pod] ?? 0, revision: this.#revisions[pod] ?? 0 };
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
