// A static pod: the agent runs it, and the apiserver shows its mirror pod, also after somebody has deleted it.
// Run it: node examples/static-pods.ts [KUBECONFIG]
import {
  ApiServerPodSource,
  BasicPodManager,
  KubePodClient,
  KubeTransport,
  loadClientConfig,
  StatusManager,
} from 'pod-status-manager';
import { MirrorPodClient, MirrorPodReconciler } from 'pod-status-manager/mirror';
import { ResourceClient, resources } from 'pod-status-manager/reflector';
import { InMemoryApiServer } from 'pod-status-manager/testing';

// the cluster of a kubeconfig, or an apiserver in memory
const [file] = process.argv.slice(2);
const server = file === undefined ? await InMemoryApiServer.start() : undefined;
const kubeConfig = server?.kubeConfig() ?? loadClientConfig({ file });
const transport = new KubeTransport(kubeConfig);
const pods = new ResourceClient(transport, resources.pods);
const nodes = new ResourceClient(transport, resources.nodes);
const nodeName = `static-pods-${process.pid}`;
await nodes.create({ metadata: { name: nodeName } });

const podManager = new BasicPodManager();
const podSource = new ApiServerPodSource({ transport, nodeName, podManager });
const manager = new StatusManager({
  podClient: new KubePodClient(transport),
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
    getNode: (name) => nodes.get({ name }),
  }),
  handlers: {
    mirrorPodCreated: () => console.log('A mirror pod was created.'),
    failed: ({ podFullName, verb, error }) => console.error(`${verb} ${podFullName}:`, error),
  },
});

// The agent has read a manifest: the hash says which version of it this is, the source that it is not the apiserver's.
const pod = {
  metadata: {
    name: `proxy-${nodeName}`,
    namespace: 'default',
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
    const { items } = await pods.list({ namespace: 'default', fieldSelector: `spec.nodeName=${nodeName}` });
    const uid = items[0]?.metadata?.uid;
    if (uid !== undefined && uid !== not && items[0]?.status?.phase === 'Running') return uid;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const mirrorPod = { namespace: 'default', name: pod.metadata.name };
const first = await running();
await pods.delete(mirrorPod, { gracePeriodSeconds: 0 }); // somebody deletes it by hand
await running(first);
console.log('The apiserver says Running again.');

await reconciler.stop();
await manager.stop();
await podSource.stop();
await pods.delete(mirrorPod, { gracePeriodSeconds: 0 });
await nodes.delete({ name: nodeName });
await transport.close();
await server?.stop();
