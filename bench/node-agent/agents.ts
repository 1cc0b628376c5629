import { fileURLToPath } from 'node:url';

/** The node agents that are compared. */
export type Agent = 'kubelet' | 'ours';
export const agents = ['kubelet', 'ours'] as const;

export const namesOfAgents: Readonly<Record<Agent, string>> = { kubelet: 'kubelet (Go)', ours: 'examples/kubelet' };

/** As its users start it: one file (`npm run build:kubelet`), with the limits of the heap that docs/guides/node-agent.md names. */
const ours = fileURLToPath(new URL('../../examples/kubelet/dist/kubelet.mjs', import.meta.url));
const heapLimits = process.env.BENCH_HEAP ?? '--max-old-space-size=96 --max-semi-space-size=2';

/** How an agent is started inside the kit, in its run folder; the kubelet as the kit itself starts it. */
export function commandOf(agent: Agent, run: string): string {
  const program = agent === 'ours' ? `${process.execPath} ${heapLimits} ${ours}` : 'kubelet --v=2';
  const { config, kubeconfig } = { config: `${run}/kubelet.yaml`, kubeconfig: `${run}/node.kubeconfig` };
  return `${program} --config ${config} --kubeconfig ${kubeconfig} --hostname-override=node-kit --node-ip=192.0.2.10`;
}
