// A node whose containers are processes of this machine: a container's image is the name of a program.
// Run it: KUBECONFIG=FILE npm run example examples/first-agent.ts. See it work: npm run example examples/try-first-agent.ts
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { KubeConfig } from '@kubernetes/client-node';
import { ContainerProvider, ProviderNode } from 'pod-status-manager/node';

const provider = new ContainerProvider({
  async runContainer({ image = '', command = [image], args = [], env = [] }, { stop, kill }) {
    const variables = env.map(({ name, value = '' }) => `${name}=${value}`);
    const child = spawn('env', [...variables, ...command, ...args], { stdio: 'inherit' });
    stop.addEventListener('abort', () => child.kill('SIGTERM'));
    kill.addEventListener('abort', () => child.kill('SIGKILL'));
    const [code] = await once(child, 'exit');
    return code ?? 137; // a signal has ended it
  },
});

const kubeConfig = new KubeConfig();
kubeConfig.loadFromDefault();
const node = new ProviderNode({ kubeConfig, nodeName: process.env.NODE_NAME ?? 'my-first-node', provider });

await node.start();
await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
await node.stop();
await provider.close();
