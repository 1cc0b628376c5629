import type { KubeConfig } from '@kubernetes/client-node';
import { type NodePod, type PodProvider, ProviderNode, type WireNode } from 'pod-status-manager/node';
import { Reflector, resources } from 'pod-status-manager/reflector';

/** The addresses for pods of a network such as 10.10.0.0/24, one after the other. */
function podAddresses(podCIDR: string): () => string {
  const [network = ''] = podCIDR.split('/');
  let last = 0;
  return () => {
    last += 1;
    return network.replace(/\d+$/, String(last));
  };
}

/** Every pod runs at once. Its address is the node's, or one of the node's network. */
function fakeProvider(node: WireNode, hostIP: string): PodProvider {
  const addresses = new Map<string, string>();
  const next = podAddresses(node.spec?.podCIDR ?? '');
  return {
    createPod: ({ metadata, spec }: NodePod) => void addresses.set(metadata.uid, spec.hostNetwork ? hostIP : next()),
    deletePod: ({ metadata }) => void addresses.delete(metadata.uid),
    getPodStatus: ({ metadata }) => {
      const podIP = addresses.get(metadata.uid);
      return podIP === undefined ? undefined : { phase: 'Running', podIP, podIPs: [{ ip: podIP }] };
    },
  };
}

/**
 * What kwok does: each node that somebody creates with its annotation has an agent, from then on until it is deleted. Resolves
 * once the nodes that are there are known.
 */
export async function startFakeNodes(kubeConfig: KubeConfig, hostIP: string): Promise<AsyncDisposable> {
  const agents = new Map<string, ProviderNode>();
  const begin = (node: WireNode): void => {
    const { name = '', annotations } = node.metadata ?? {};
    if (annotations?.['kwok.x-k8s.io/node'] !== 'fake' || agents.has(name)) return;
    const provider = fakeProvider(node, hostIP);
    const addresses = [{ type: 'InternalIP', address: hostIP }];
    const agent = new ProviderNode({ kubeConfig, nodeName: name, provider, addresses, registerNode: false, logger: null });
    agents.set(name, agent);
    agent.start().catch(() => {});
  };
  const end = async (node: WireNode): Promise<void> => {
    const name = node.metadata?.name ?? '';
    const agent = agents.get(name);
    agents.delete(name);
    await agent?.stop();
  };
  const handlers = { added: begin, updated: begin, deleted: end };
  const reflector = new Reflector({ kubeConfig, resource: resources.nodes, handlers, logger: null });
  await reflector.start();
  return {
    [Symbol.asyncDispose]: async () => {
      await reflector.stop();
      await Promise.all(Array.from(agents.values(), (agent) => agent.stop()));
    },
  };
}
