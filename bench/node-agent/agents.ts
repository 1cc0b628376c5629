import { fileURLToPath } from 'node:url';

/** The node agents that are compared. */
export type Agent = 'kubelet' | 'ours';
export const agents = ['kubelet', 'ours'] as const;

export const namesOfAgents: Readonly<Record<Agent, string>> = { kubelet: 'kubelet (Go)', ours: 'examples/kubelet' };

const ours = fileURLToPath(new URL('../../examples/kubelet/main.ts', import.meta.url));

/**
 * How an agent is started inside the kit, in its run folder; the kubelet as the kit itself starts it. BENCH_AGENT names another
 * command in our agent's place.
 */
export function commandOf(agent: Agent, run: string): string {
  if (agent === 'ours') return process.env.BENCH_AGENT ?? `${process.execPath} ${ours} --config ${run}/kubelet.yaml`;
  return `kubelet --config ${run}/kubelet.yaml --kubeconfig ${run}/node.kubeconfig --hostname-override=node-kit --node-ip=192.0.2.10 --v=2`;
}
