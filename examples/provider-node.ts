// A node whose provider "runs" its pods in a set: three methods, and everything around them that makes it a node of a cluster.
// Run it: node examples/provider-node.ts [KUBECONFIG]
import { KubeTransport, loadClientConfig } from 'pod-status-manager';
import { type PodProvider, ProviderNode } from 'pod-status-manager/node';
import { ResourceClient, resources } from 'pod-status-manager/reflector';
import { InMemoryApiServer } from 'pod-status-manager/testing';

// the cluster of a kubeconfig, or an apiserver in memory
const [file] = process.argv.slice(2);
const server = file === undefined ? await InMemoryApiServer.start() : undefined;
const kubeConfig = server?.kubeConfig() ?? loadClientConfig({ file });

const machines = new Set<string>();
const provider: PodProvider = {
  createPod: (pod) => machines.add(pod.metadata.uid),
  deletePod: (pod) => machines.delete(pod.metadata.uid),
  getPodStatus: (pod) => (machines.has(pod.metadata.uid) ? { phase: 'Running' } : undefined),
};
const nodeName = `virtual-${process.pid}`;
const node = new ProviderNode({ kubeConfig, nodeName, provider, removeOnStop: true });
await node.start();

// somebody creates a pod for this node, and deletes it once it is ready
const transport = new KubeTransport(kubeConfig);
const pods = new ResourceClient(transport, resources.pods);
const web = { namespace: 'default', name: `web-${process.pid}` };
await pods.create({ metadata: web, spec: { nodeName, containers: [{ name: 'app', image: 'app:1' }] } });
const isReady = async (): Promise<boolean> =>
  (await pods.get(web)).status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
while (!(await isReady())) await new Promise((resolve) => setTimeout(resolve, 50));
console.log(`The pod is ready, on ${machines.size} machine.`);
await pods.delete(web);
const isThere = async (): Promise<boolean> =>
  (await pods.list({ namespace: 'default', fieldSelector: `metadata.name=${web.name}` })).items.length > 0;
// the machine first; then the node tells the server, which removes the pod
while (machines.size > 0 || (await isThere())) await new Promise((resolve) => setTimeout(resolve, 50));
console.log('It was deleted, and its machine is free.');

await node.stop();
await transport.close();
await server?.stop();
