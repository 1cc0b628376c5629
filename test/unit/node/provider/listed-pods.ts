import type { Pod } from '../../../../src/api/json/types.ts';
import type { NodePod, PodProvider } from '../../../../src/node/provider/pod-provider.ts';
import type { GivenContainer } from '../../../../src/node.ts';

/** A provider with the methods that every provider has, which answers with containers. It forgets a pod as soon as it is deleted. */
export class FakePods implements PodProvider {
  /** How the containers of each pod are. */
  containers: readonly GivenContainer[];
  /** What `deletePod` resolves to. */
  last: unknown;
  /** What an earlier run of the agent has left. */
  earlier: readonly Pod[] = [];
  asked = 0;
  readonly created: NodePod[] = [];
  readonly deleted: NodePod[] = [];
  readonly #uids = new Set<string>();

  constructor(containers: readonly GivenContainer[]) {
    this.containers = containers;
  }

  createPod(pod: NodePod): void {
    this.created.push(pod);
    this.#uids.add(pod.metadata.uid);
  }

  async deletePod(pod: NodePod): Promise<unknown> {
    this.deleted.push(pod);
    this.#uids.delete(pod.metadata.uid);
    this.earlier = this.earlier.filter(({ metadata }) => metadata?.uid !== pod.metadata.uid);
    return this.last;
  }

  getPodStatus({ metadata }: NodePod): readonly GivenContainer[] | undefined {
    this.asked += 1;
    const has = this.#uids.has(metadata.uid) || this.earlier.some((pod) => pod.metadata?.uid === metadata.uid);
    return has ? this.containers : undefined;
  }

  getPods(): readonly Pod[] {
    return this.earlier;
  }
}
