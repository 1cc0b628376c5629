// One pod, one status, one request. Run it: node examples/minimal.ts [KUBECONFIG]
import {
  BasicPodManager,
  DefaultPodDeletionSafety,
  KubePodClient,
  KubeTransport,
  loadClientConfig,
  StatusManager,
} from 'pod-status-manager';
import { ResourceClient, resources } from 'pod-status-manager/reflector';
import { InMemoryApiServer } from 'pod-status-manager/testing';

// the cluster of a kubeconfig, or an apiserver in memory
const [file] = process.argv.slice(2);
const server = file === undefined ? await InMemoryApiServer.start() : undefined;
const kubeConfig = server?.kubeConfig() ?? loadClientConfig({ file });
const transport = new KubeTransport(kubeConfig);
const pods = new ResourceClient(transport, resources.pods);

const web = { namespace: 'default', name: `web-${process.pid}` };
const pod = await pods.create({
  metadata: web,
  spec: { nodeName: 'my-node', containers: [{ name: 'app', image: 'registry.example/app:1' }] },
});

const podManager = new BasicPodManager();
const manager = new StatusManager({
  podClient: new KubePodClient(transport),
  podManager,
  // put your container runtime's list here; this node runs nothing
  podDeletionSafety: new DefaultPodDeletionSafety({ runtimeCache: { hasSynced: () => true, getContainers: () => [] } }),
});
let writes = 0;
manager.on('synced', () => writes++);
manager.start();

podManager.addPod(pod);
manager.setPodStatus(pod, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] });
manager.setPodStatus(pod, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }); // changes nothing
await manager.flush();

const { status } = await pods.get(web);
console.log(`The apiserver says ${status?.phase}, after ${writes} write.`);

await manager.stop();
await pods.delete(web, { gracePeriodSeconds: 0 });
await transport.close();
await server?.stop();
