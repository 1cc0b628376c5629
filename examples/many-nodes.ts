// Three nodes in one process, over one transport: they share its connections, and each has its own pods.
// Run it: node examples/many-nodes.ts [KUBECONFIG]
import { setTimeout as delay } from 'node:timers/promises';
import { KubeTransport, loadClientConfig } from 'pod-status-manager';
import { ContainerProvider, ProviderNode } from 'pod-status-manager/node';
import { ResourceClient, resources } from 'pod-status-manager/reflector';
import { InMemoryApiServer } from 'pod-status-manager/testing';

// the cluster of a kubeconfig, or an apiserver in memory
const [file] = process.argv.slice(2);
const server = file === undefined ? await InMemoryApiServer.start() : undefined;
const kubeConfig = server?.kubeConfig() ?? loadClientConfig({ file });
const transport = new KubeTransport(kubeConfig);

/** A node whose containers wait until they are asked to end. */
function makeNode(nodeName: string) {
  const provider = new ContainerProvider({
    runContainer: (_, { stop }) => new Promise((resolve) => stop.addEventListener('abort', () => resolve(0))),
  });
  // a transport that was given stays open when a node stops
  return { nodeName, provider, node: new ProviderNode({ transport, nodeName, provider, removeOnStop: true }) };
}
const nodes = [1, 2, 3].map((number) => makeNode(`many-${process.pid}-${number}`));
await Promise.all(nodes.map(({ node }) => node.start()));
console.log(`${nodes.length} nodes are registered.`);

// somebody creates two pods for each node
const pods = new ResourceClient(transport, resources.pods);
const created = nodes.flatMap(({ nodeName }) =>
  ['a', 'b'].map((name) =>
    pods.create({
      metadata: { name: `${nodeName}-${name}`, namespace: 'default' },
      spec: { nodeName, terminationGracePeriodSeconds: 1, containers: [{ name: 'app', image: 'app:1' }] },
    }),
  ),
);
const targets = (await Promise.all(created)).map(({ metadata }) => ({ namespace: 'default', name: metadata?.name ?? '' }));

/** What the apiserver has of each node's pods. */
const statuses = () =>
  Promise.all(
    nodes.map(async ({ nodeName }) => {
      const { items } = await pods.list({ fieldSelector: `spec.nodeName=${nodeName}` });
      return items.map(({ status }) => status?.phase);
    }),
  );
while ((await statuses()).flat().some((phase) => phase !== 'Running')) await delay(50);
for (const { node } of nodes) console.log(`A node runs ${node.podManager.getPods().length} pods.`);

await Promise.all(targets.map((target) => pods.delete(target)));
while ((await statuses()).flat().length > 0) await delay(50);
console.log('All pods are deleted.');

await Promise.all(nodes.map(({ node }) => node.stop()));
await Promise.all(nodes.map(({ provider }) => provider.close()));
await transport.close();
await server?.stop();
