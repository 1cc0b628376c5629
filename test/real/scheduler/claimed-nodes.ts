import type { KubeConfig } from '@kubernetes/client-node';
import type { Pod, PodStatus } from '../../../src/api/json/types.ts';
import { KubeTransport } from '../../../src/client/transport/kube-transport.ts';
import type { PodProvider } from '../../../src/node/provider/pod-provider.ts';
import { ProviderNode } from '../../../src/node/provider/provider-node.ts';
import { zoneLabel } from '../../support/storage/storage-record.ts';

const zones = ['a', 'b', 'c'];

/** Runs every pod at once. */
class RunsAll implements PodProvider {
  /** The pods that it was told to run, as `NAMESPACE/NAME`. */
  readonly created: string[] = [];
  readonly #running = new Set<string>();

  createPod({ metadata }: Pod): void {
    this.created.push(`${metadata?.namespace}/${metadata?.name}`);
    this.#running.add(metadata?.uid ?? '');
  }

  updatePod(): void {}

  deletePod({ metadata }: Pod): void {
    this.#running.delete(metadata?.uid ?? '');
  }

  getPodStatus({ metadata }: Pod): PodStatus | undefined {
    return this.#running.has(metadata?.uid ?? '') ? { phase: 'Running' } : undefined;
  }
}

/** Nodes in three zones, with their agents. */
export class ClaimedNodes implements AsyncDisposable {
  readonly zoneOfNode: ReadonlyMap<string, string>;
  readonly #transport: KubeTransport;
  readonly #nodes: readonly { readonly name: string; readonly node: ProviderNode; readonly provider: RunsAll }[];

  private constructor(kubeConfig: KubeConfig, count: number, room: number) {
    this.#transport = new KubeTransport(kubeConfig, { connections: 32, logger: null });
    const names = Array.from({ length: count }, (_, index) => `node-${String(index).padStart(3, '0')}`);
    this.zoneOfNode = new Map(names.map((name, index) => [name, zones[index % zones.length] ?? '']));
    this.#nodes = names.map((name) => {
      const provider = new RunsAll();
      const node = new ProviderNode({
        ...{ transport: this.#transport, nodeName: name, provider, logger: null, taints: [] },
        capacity: { cpu: String(room), memory: '8Gi', pods: '1000' },
        labels: { [zoneLabel]: this.zoneOfNode.get(name) ?? '' },
        pods: { pollIntervalMs: 1000 },
      });
      return { name, node, provider };
    });
  }

  /** Each with room for so many pods. */
  static async start(kubeConfig: KubeConfig, count: number, room: number): Promise<ClaimedNodes> {
    const nodes = new ClaimedNodes(kubeConfig, count, room);
    await Promise.all(nodes.#nodes.map(({ node }) => node.start()));
    return nodes;
  }

  get zones(): readonly string[] {
    return zones;
  }

  /** The pods that each agent has created, as `NAMESPACE/NAME`. */
  created(): Map<string, readonly string[]> {
    return new Map(this.#nodes.map(({ name, provider }) => [name, provider.created]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#nodes.map(({ node }) => node.stop()));
    await this.#transport.close();
  }
}
