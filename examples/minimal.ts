// One pod, one status, one request. Run it: npm run example examples/minimal.ts
import { BasicPodManager, DefaultPodDeletionSafety, KubePodClient, StatusManager } from 'pod-status-manager';
import { InMemoryApiServer } from 'pod-status-manager/testing';

// An apiserver in memory. With a cluster: `const kubeConfig = new KubeConfig(); kubeConfig.loadFromDefault();`
const server = await InMemoryApiServer.start();
const pod = server.store.create({
  metadata: { name: 'web', namespace: 'default' },
  spec: { nodeName: 'my-node', containers: [{ name: 'app', image: 'registry.example/app:1' }] },
});

const podManager = new BasicPodManager();
const podClient = KubePodClient.fromKubeConfig(server.kubeConfig());
const manager = new StatusManager({
  podClient,
  podManager,
  // put your container runtime's list here; this node runs nothing
  podDeletionSafety: new DefaultPodDeletionSafety({ runtimeCache: { hasSynced: () => true, getContainers: () => [] } }),
});
manager.start();

podManager.addPod(pod);
manager.setPodStatus(pod, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] });
manager.setPodStatus(pod, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }); // changes nothing
await manager.flush();

const { status } = server.store.get('default', 'web');
console.log(`The apiserver says ${status?.phase}, after ${server.countRequests()} request.`);

await manager.stop();
await podClient.close();
await server.stop();
