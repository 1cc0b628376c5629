import type { KubeConfig } from '@kubernetes/client-node';
import { type PodProvider, ProviderNode } from 'pod-status-manager/node';
import type { Amounts } from './demo-pods.ts';

/** A virtual node of the run. */
export interface DemoNode {
  readonly name: string;
  readonly zone: string;
  readonly has: Amounts;
}

const cores = [4, 8, 16];

/** Six nodes of three sizes, one small and one larger in each of three zones. */
export const demoNodes: readonly DemoNode[] = ['a', 'b', 'c'].flatMap((zone, index) =>
  [0, 1].map((turn) => {
    const count = cores[(index + turn) % cores.length] ?? 4;
    return { name: `node-${zone}${turn + 1}`, zone: `zone-${zone}`, has: { milliCPU: count * 1000, memoryMiB: count * 2048 } };
  }),
);

/** The node at work: its pods "run" in a set. */
export function providerNode({ name, zone, has }: DemoNode, kubeConfig: KubeConfig): ProviderNode {
  const machines = new Set<string>();
  const provider: PodProvider = {
    createPod: (pod) => machines.add(pod.metadata.uid),
    deletePod: (pod) => machines.delete(pod.metadata.uid),
    getPodStatus: (pod) => (machines.has(pod.metadata.uid) ? { phase: 'Running' } : undefined),
  };
  return new ProviderNode({
    ...{ kubeConfig, provider, nodeName: name, removeOnStop: true },
    labels: { 'topology.kubernetes.io/zone': zone },
    capacity: { cpu: `${has.milliCPU}m`, memory: `${has.memoryMiB}Mi`, pods: '110' },
    // the scheduler of the run knows of no other nodes
    taints: [],
    // its lines would break the picture on the screen
    logger: null,
  });
}
