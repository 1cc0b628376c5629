/** What became of a creation: whether the pod was there already, and if so, whether a creation that came late made it. */
export type Creation = 'first' | 'doubled' | 'doubled by a late one';

/**
 * The pods as they run in the cloud, whoever owns their nodes: of each its state, by a number that grows with each change; 0: it was not
 * created. Whoever runs nodes of a shard is told of what changes there.
 */
export class PodStates {
  readonly #podsPerNode: number;
  readonly #states: Int32Array;
  readonly #shardOfNode: readonly number[];
  readonly #madeLate = new Set<number>();
  readonly #listeners = new Map<number, Set<(pod: number) => void>>();

  constructor(podsPerNode: number, shardOfNode: readonly number[], isThere: (pod: number) => boolean) {
    this.#podsPerNode = podsPerNode;
    this.#shardOfNode = shardOfNode;
    this.#states = Int32Array.from({ length: shardOfNode.length * podsPerNode }, (_, pod) => Number(isThere(pod)));
  }

  get pods(): number {
    return this.#states.length;
  }

  of(pod: number): number {
    return this.#states[pod] ?? 0;
  }

  /** The states of all pods of the nodes, one node after the other. */
  list(nodes: readonly number[]): Int32Array {
    const states = new Int32Array(nodes.length * this.#podsPerNode);
    for (const [place, node] of nodes.entries()) {
      const of = this.#states.subarray(node * this.#podsPerNode, (node + 1) * this.#podsPerNode);
      states.set(of, place * this.#podsPerNode);
    }
    return states;
  }

  /** `isLate`: whoever asked for it has given it up. */
  create(pod: number, isLate: boolean): Creation {
    if (this.of(pod) > 0) return this.#madeLate.has(pod) || isLate ? 'doubled by a late one' : 'doubled';
    if (isLate) this.#madeLate.add(pod);
    this.#states[pod] = 1;
    this.tell(pod);
    return 'first';
  }

  /** A container of the pod ends, starts or is ready; nothing where the pod does not run. */
  change(pod: number): void {
    const state = this.of(pod);
    if (state === 0) return;
    this.#states[pod] = state + 1;
    this.tell(pod);
  }

  /** Tells of changes in a shard until what is returned is called. */
  listen(shard: number, told: (pod: number) => void): () => void {
    const listeners = this.#listeners.get(shard) ?? new Set();
    this.#listeners.set(shard, listeners.add(told));
    return () => void listeners.delete(told);
  }

  tell(pod: number): void {
    const shard = this.#shardOfNode[Math.floor(pod / this.#podsPerNode)] ?? -1;
    for (const told of this.#listeners.get(shard) ?? []) told(pod);
  }
}
