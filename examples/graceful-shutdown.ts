// On SIGTERM the agent stops its work, the manager writes what was set, the sockets close, and the process ends by itself.
// Run it: node examples/graceful-shutdown.ts [KUBECONFIG]
import { once } from 'node:events';
import { BasicPodManager, KubePodClient, KubeTransport, loadClientConfig, StatusManager } from 'pod-status-manager';
import { ResourceClient, resources } from 'pod-status-manager/reflector';
import { InMemoryApiServer } from 'pod-status-manager/testing';

// the cluster of a kubeconfig, or an apiserver in memory
const [file] = process.argv.slice(2);
const server = file === undefined ? await InMemoryApiServer.start() : undefined;
const kubeConfig = server?.kubeConfig() ?? loadClientConfig({ file });
const transport = new KubeTransport(kubeConfig);
const client = new ResourceClient(transport, resources.pods);

const run = `graceful-${process.pid}`;
const created = Array.from({ length: 100 }, (_, index) =>
  client.create({
    metadata: { name: `${run}-${index}`, namespace: 'default', labels: { run } },
    spec: { nodeName: 'my-node', containers: [{ name: 'app', image: 'registry.example/app:1' }] },
  }),
);
const pods = await Promise.all(created);

const podManager = new BasicPodManager();
podManager.setPods(pods);
const manager = new StatusManager({
  podClient: new KubePodClient(transport),
  podManager,
  podDeletionSafety: { podCouldHaveRunningContainers: () => true, podResourcesAreReclaimed: () => false },
});
manager.start();

// The agent's work: it sets a new status of every pod, faster than they can be written.
let updates = 0;
let last = '';
const agent = setInterval(() => {
  last = `update ${++updates}`;
  for (const pod of pods) manager.setPodStatus(pod, { phase: 'Running', message: last });
}, 10);

// This example sends itself the signal. In production a service manager or a kubelet sends it.
setTimeout(() => process.kill(process.pid, 'SIGTERM'), 300);
await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);

// 1. The agent stops setting statuses: after stop(), setPodStatus throws ERR_STOPPED.
clearInterval(agent);
// 2. The manager sends what is not sent yet, for at most 20 seconds. The grace period of your own process must be longer.
await manager.stop({ drainTimeoutMs: 20_000 });

const selection = { namespace: 'default', labelSelector: `run=${run}` };
const { items } = await client.list(selection);
const written = items.filter(({ status }) => status?.message === last);
console.log(`Set last: ${last}. On the apiserver: ${written.length} of ${pods.length} pods.`);
process.exitCode = written.length === pods.length ? 0 : 1;

await client.deleteCollection({ ...selection, gracePeriodSeconds: 0 });
// 3. The code that made the transport closes it.
await transport.close();
await server?.stop();
