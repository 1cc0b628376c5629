import { type PodProvider, ProviderNode } from 'pod-status-manager/node';
import { type BrokenCalls, breakable } from '../faults/breakable-provider.ts';
import type { RunContext } from '../run.ts';
import { quickNode } from '../virtual/virtual-run.ts';
import type { Amounts } from './demo-pods.ts';

/** A virtual node of the run. */
export interface SizedNode {
  readonly name: string;
  readonly zone: string;
  readonly has: Amounts;
}

const cores = [4, 8, 16];

/** Six nodes of three sizes, one small and one larger in each of three zones. */
export const demoNodes: readonly SizedNode[] = ['a', 'b', 'c'].flatMap((zone, index) =>
  [0, 1].map((turn) => {
    const count = cores[(index + turn) % cores.length] ?? 4;
    return { name: `node-${zone}${turn + 1}`, zone: `zone-${zone}`, has: { milliCPU: count * 1000, memoryMiB: count * 2048 } };
  }),
);

/** The node at work: its pods "run" in a set. */
export function providerNode(
  { name, zone, has }: SizedNode,
  { world, statuses, journal, options }: RunContext,
  broken: BrokenCalls,
): ProviderNode {
  const machines = new Set<string>();
  const provider: PodProvider = {
    createPod: (pod) => machines.add(pod.metadata.uid),
    deletePod: (pod) => machines.delete(pod.metadata.uid),
    getPodStatus: (pod) => (machines.has(pod.metadata.uid) ? { phase: 'Running' } : undefined),
  };
  return new ProviderNode({
    ...{ transport: world.transport, podClient: statuses.podClient, nodeName: name, logger: journal, removeOnStop: true },
    provider: breakable(provider, broken),
    labels: { 'topology.kubernetes.io/zone': zone },
    capacity: { cpu: `${has.milliCPU}m`, memory: `${has.memoryMiB}Mi`, pods: '110' },
    // the scheduler of the run knows of no other nodes
    taints: [],
    ...(options.breaks && quickNode),
  });
}
