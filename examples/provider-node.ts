// A virtual node: a provider that "runs" pods in a map, and everything around it that makes it a node of the cluster.
// Run it: node examples/provider-node.ts
import { type PodProvider, ProviderNode } from '../src/node.ts';
import { InMemoryApiServer } from '../src/testing.ts';

// An apiserver in memory. With a cluster: `const kubeConfig = new KubeConfig(); kubeConfig.loadFromDefault();`
const server = await InMemoryApiServer.start();
const kubeConfig = server.kubeConfig();

const running = new Set<string>();
const provider: PodProvider = {
  createPod: (pod) => running.add(pod.metadata?.uid ?? ''),
  updatePod: () => {},
  deletePod: (pod) => running.delete(pod.metadata?.uid ?? ''),
  getPodStatus: (pod) => (running.has(pod.metadata?.uid ?? '') ? { phase: 'Running', podIP: '10.0.0.1' } : undefined),
};
const node = new ProviderNode({ kubeConfig, nodeName: 'virtual', provider, removeOnStop: true });
await node.start();

const web = { name: 'web', namespace: 'default' };
server.store.create({ metadata: web, spec: { nodeName: 'virtual', containers: [{ name: 'app', image: 'app:1' }] } });
const isReady = () =>
  server.store.get('default', 'web').status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True');
while (!isReady()) await new Promise((resolve) => setTimeout(resolve, 10));
console.log(`The pod is ${server.store.get('default', 'web').status?.phase} on ${running.size} virtual machine.`);

server.store.delete('default', 'web', { gracePeriodSeconds: 5 });
while (server.store.list().length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
console.log(`It was deleted, and ${running.size} machines are left.`);

await node.stop();
await server.stop();
