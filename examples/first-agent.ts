// A node whose containers are processes of this machine: a container's image is the name of a program.
// Run it: KUBECONFIG=FILE node examples/first-agent.ts. See it work: node examples/try-first-agent.ts
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { KubeConfig } from '@kubernetes/client-node';
import type { Pod } from 'pod-status-manager';
import { type Admission, ContainerProvider, ProviderNode } from 'pod-status-manager/node';

const provider = new ContainerProvider({
  async runContainer({ image = '', command = [image], args = [], env = [], workingDir: cwd }, { stop, kill }) {
    const variables = env.map(({ name, value = '' }) => `${name}=${value}`);
    const child = spawn('env', [...variables, ...command, ...args], { cwd, stdio: 'inherit' });
    stop.addEventListener('abort', () => child.kill('SIGTERM'));
    kill.addEventListener('abort', () => child.kill('SIGKILL'));
    const [code] = await once(child, 'exit');
    return code ?? 137; // a signal has ended it
  },
});

/** What the pod asks for and this agent cannot do. */
function* unsupported({ spec }: Pod): Generator<string> {
  for (const { name, projected } of spec?.volumes ?? []) {
    const isToken = projected && name.startsWith('kube-api-access-'); // every pod has it; no process here needs it
    if (!isToken) yield `volume ${name}: volumes are`;
  }
  for (const container of [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]) {
    for (const field of ['livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle'] as const)
      if (container[field]) yield `container ${container.name}: ${field} is`;
  }
}

/** A pod that asks for more than it would get does not begin: it is Failed, and says why. */
function admitPod(pod: Pod): Admission {
  const [what] = unsupported(pod);
  if (what === undefined) return { admit: true };
  return { admit: false, reason: 'NotSupported', message: `${what} not supported by this agent` };
}

const kubeConfig = new KubeConfig();
kubeConfig.loadFromDefault();
const nodeName = process.env.NODE_NAME ?? 'my-first-node';
const node = new ProviderNode({ kubeConfig, nodeName, provider, admitPod });

await node.start();
await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
await node.stop();
await provider.close();
