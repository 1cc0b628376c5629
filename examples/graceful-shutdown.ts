// On SIGTERM the agent stops its work, the manager writes what was set, the sockets close, and the process ends by itself.
// Run it: npm run example examples/graceful-shutdown.ts
import { once } from 'node:events';
import { BasicPodManager, KubePodClient, StatusManager } from 'pod-status-manager';
import { InMemoryApiServer } from 'pod-status-manager/testing';

const server = await InMemoryApiServer.start();
const pods = Array.from({ length: 100 }, (_, index) =>
  server.store.create({
    metadata: { name: `web-${index}`, namespace: 'default' },
    spec: { nodeName: 'my-node', containers: [{ name: 'app', image: 'registry.example/app:1' }] },
  }),
);

const podManager = new BasicPodManager();
podManager.setPods(pods);
const podClient = KubePodClient.fromKubeConfig(server.kubeConfig());
const manager = new StatusManager({
  podClient,
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
// 2. The manager sends what is not sent yet, for at most 5 seconds. The grace period of your own process must be longer.
await manager.stop({ drainTimeoutMs: 5000 });
// 3. The code that made the client closes it.
await podClient.close();

const written = pods.filter(({ metadata }) => server.store.get('default', metadata?.name ?? '').status?.message === last);
console.log(`Set last: ${last}. On the apiserver: ${written.length} of ${pods.length} pods.`);
process.exitCode = written.length === pods.length ? 0 : 1;
await server.stop();
