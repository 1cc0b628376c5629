// A static pod: the agent runs it, and the apiserver shows its mirror pod, also after somebody has deleted it.
// Run it: npm run example examples/static-pods.ts
import { ApiServerPodSource, BasicPodManager, KubePodClient, KubeTransport, StatusManager } from 'pod-status-manager';
import { MirrorPodClient, MirrorPodReconciler } from 'pod-status-manager/mirror';
import { InMemoryApiServer } from 'pod-status-manager/testing';

// An apiserver in memory. With a cluster: `const kubeConfig = new KubeConfig(); kubeConfig.loadFromDefault();`
const server = await InMemoryApiServer.start();
const kubeConfig = server.kubeConfig();
const nodeName = 'my-node';

const podManager = new BasicPodManager();
const podSource = new ApiServerPodSource({ kubeConfig, nodeName, podManager });
const podClient = KubePodClient.fromKubeConfig(kubeConfig);
const transport = new KubeTransport(kubeConfig);
const manager = new StatusManager({
  podClient,
  podManager,
  podSource,
  podDeletionSafety: { podCouldHaveRunningContainers: () => true, podResourcesAreReclaimed: () => false },
});
const reconciler = new MirrorPodReconciler({
  podManager,
  podSource,
  nodeName,
  mirrorPodClient: new MirrorPodClient({
    transport,
    nodeName,
    // on a cluster: `const nodes = new ResourceClient(transport, resources.nodes)`, and `(name) => nodes.get({ name })`
    getNode: (name) => ({ metadata: { name, uid: 'uid-of-my-node' } }),
  }),
  handlers: {
    mirrorPodCreated: ({ podFullName, mirrorPod }) => console.log(`created ${podFullName}, uid ${mirrorPod.metadata?.uid}`),
    failed: ({ podFullName, verb, error }) => console.error(`${verb} ${podFullName}:`, error),
  },
});

// The agent has read a manifest: the hash says which version of it this is, the source that it is not the apiserver's.
const pod = {
  metadata: {
    name: 'proxy-my-node',
    namespace: 'kube-system',
    uid: 'hash-of-the-manifest',
    annotations: { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.hash': 'hash-of-the-manifest' },
  },
  spec: { nodeName, containers: [{ name: 'proxy', image: 'registry.example/proxy:1' }] },
};
podManager.addPod(pod);
manager.setPodStatus(pod, { phase: 'Running' });

manager.start();
reconciler.start();
await podSource.start();

/** Resolves to the uid of the mirror pod that says Running, once there is another one than `not`. */
async function running(not?: string): Promise<string> {
  for (;;) {
    const [mirrorPod] = server.store.list();
    const uid = mirrorPod?.metadata?.uid;
    if (uid !== undefined && uid !== not && mirrorPod?.status?.phase === 'Running') return uid;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const first = await running();
server.store.remove('kube-system', 'proxy-my-node'); // somebody deletes it by hand
await running(first);
console.log('The apiserver says Running again.');

await reconciler.stop();
await manager.stop();
await podSource.stop();
await transport.close();
await podClient.close();
await server.stop();
