import { onTestFinished } from 'vitest';
import { NodeFleet, type NodeFleetOptions } from '../../../src/fleet.ts';
import type { PodProvider } from '../../../src/node.ts';
import { buildPod, InMemoryApiServer } from '../../../src/testing.ts';

export const nodes = ['n1', 'n2', 'n3', 'n4'];

/** A cloud that all members share: it knows who was created, and how often. */
class SharedCloud {
  readonly created: string[] = [];
  readonly running = new Set<string>();

  provider(): PodProvider {
    return {
      createPod: ({ metadata }) => {
        this.created.push(metadata?.name ?? '');
        this.running.add(metadata?.uid ?? '');
      },
      deletePod: ({ metadata }) => void this.running.delete(metadata?.uid ?? ''),
      getPodStatus: ({ metadata }) =>
        this.running.has(metadata?.uid ?? '') ? { phase: 'Running', podIP: '10.0.0.1' } : undefined,
    };
  }
}

/** A server with a pod on each of the nodes, and members that share a cloud. */
export async function world() {
  const server = await InMemoryApiServer.start();
  onTestFinished(() => server.stop());
  const cloud = new SharedCloud();
  for (const nodeName of nodes) {
    server.store.create(buildPod({ metadata: { name: `on-${nodeName}`, uid: `u-${nodeName}` }, spec: { nodeName } }));
  }
  const member = async (id: string, options: Partial<NodeFleetOptions> = {}): Promise<NodeFleet> => {
    const own = options.transport === undefined ? { kubeConfig: server.kubeConfig() } : {};
    const limits = { leaseDurationMs: 2000, retryPeriodMs: 200, shards: 4 };
    const provider = (): PodProvider => cloud.provider();
    const fleet = new NodeFleet({ ...own, ...limits, name: 'edge', id, nodes, provider, logger: null, ...options });
    onTestFinished(async () => void (await fleet.stop({ timeoutMs: 0 })));
    await fleet.start();
    return fleet;
  };
  const phases = (): (string | undefined)[] => server.store.list().map(({ status }) => status?.phase);
  return { server, cloud, member, phases };
}
