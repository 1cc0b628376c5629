import { ownAgentCommand } from '../../test/support/own-agent.ts';

/** The node agents that are compared. */
export type Agent = 'kubelet' | 'ours';
export const agents = ['kubelet', 'ours'] as const;

export const namesOfAgents: Readonly<Record<Agent, string>> = { kubelet: 'kubelet (Go)', ours: 'examples/kubelet' };

/** What the measured pods run. */
export const pauseImage = 'registry.k8s.io/pause:3.10.2';

/**
 * How an agent is started inside the kit, in its run folder; the kubelet as the kit itself starts it. BENCH_AGENT names another
 * command in our agent's place.
 */
export function commandOf(agent: Agent, run: string): string {
  const { BENCH_AGENT } = process.env;
  if (agent === 'ours' && BENCH_AGENT !== undefined) return BENCH_AGENT;
  const program = agent === 'ours' ? ownAgentCommand() : 'kubelet --v=2';
  const { config, kubeconfig } = { config: `${run}/kubelet.yaml`, kubeconfig: `${run}/node.kubeconfig` };
  return `${program} --config ${config} --kubeconfig ${kubeconfig} --hostname-override=node-kit --node-ip=192.0.2.10`;
}
