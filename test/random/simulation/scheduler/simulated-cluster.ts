import type { WireNode, WirePod } from '../../../../src/api/json/types.ts';
import type { Prng } from '../../chaos/prng.ts';

/** What a watch tells. */
export type Change =
  | { readonly kind: 'pod'; readonly pod: WirePod }
  | { readonly kind: 'podGone'; readonly pod: WirePod }
  | { readonly kind: 'node'; readonly node: WireNode }
  | { readonly kind: 'nodeGone'; readonly node: WireNode };

/** What an apiserver would hold, and what it refuses. Writes down what must never happen. */
export class SimulatedCluster {
  readonly pods = new Map<string, WirePod>();
  readonly nodes = new Map<string, WireNode>();
  readonly problems: string[] = [];
  /** Told of each change, in order. */
  onChange: (change: Change) => void = () => {};
  readonly #room: number;
  #names = 0;

  constructor(room: number) {
    this.#room = room;
  }

  addNode(): void {
    const name = `n${++this.#names}`;
    const node = {
      metadata: { name },
      status: { allocatable: { cpu: String(this.#room), memory: '8Gi', pods: '110' } },
    } as WireNode;
    this.nodes.set(name, node);
    this.onChange({ kind: 'node', node });
  }

  /** A node that ends takes its pods with it. */
  deleteNode(name: string): void {
    const node = this.nodes.get(name);
    if (node === undefined) return;
    for (const pod of this.on(name)) this.deletePod(pod.metadata?.uid ?? '');
    this.nodes.delete(name);
    this.onChange({ kind: 'nodeGone', node });
  }

  addPod(): void {
    const name = `p${++this.#names}`;
    const resources = { requests: { cpu: '1' } };
    const spec = { schedulerName: 'default-scheduler', containers: [{ name: 'c', image: 'i', resources }] };
    const pod = { metadata: { name, namespace: 'd', uid: name, resourceVersion: `${this.#names}` }, spec } as WirePod;
    this.pods.set(name, pod);
    this.onChange({ kind: 'pod', pod });
  }

  deletePod(uid: string): void {
    const pod = this.pods.get(uid);
    if (pod === undefined) return;
    this.pods.delete(uid);
    this.onChange({ kind: 'podGone', pod });
  }

  /** Throws where the server would refuse it. */
  bind(uid: string, nodeName: string): void {
    const pod = this.pods.get(uid);
    if (pod?.spec === undefined) throw new Error(`404: there is no pod ${uid}`);
    if (pod.spec.nodeName !== undefined) {
      this.problems.push(`${uid} is on ${pod.spec.nodeName} and was bound again, to ${nodeName}`);
      throw new Error('409: it is bound already');
    }
    const bound: WirePod = {
      ...pod,
      metadata: { ...pod.metadata, resourceVersion: `${++this.#names}` },
      spec: { ...pod.spec, nodeName },
    };
    this.pods.set(uid, bound);
    const count = this.on(nodeName).length;
    if (count > this.#room) this.problems.push(`${nodeName} has ${count} pods and room for ${this.#room}`);
    this.onChange({ kind: 'pod', pod: bound });
  }

  /** Deletes pods that were bound to a node which was gone already, as the controller of a cluster does. */
  collectGarbage(): void {
    for (const [uid, { spec }] of this.pods) {
      if (spec?.nodeName !== undefined && !this.nodes.has(spec.nodeName)) this.deletePod(uid);
    }
  }

  on(nodeName: string): WirePod[] {
    return [...this.pods.values()].filter(({ spec }) => spec?.nodeName === nodeName);
  }

  /** Pods that are without a node, or on one that is gone. */
  left(): string[] {
    const isLeft = ({ spec }: WirePod): boolean => spec?.nodeName === undefined || !this.nodes.has(spec.nodeName);
    return [...this.pods.values()].filter(isLeft).map(({ metadata }) => metadata?.name ?? '');
  }

  /** A node or a pod, by chance. */
  any(prng: Prng, of: 'nodes' | 'pods'): string {
    return prng.pick([...this[of].keys()]) ?? '';
  }
}
