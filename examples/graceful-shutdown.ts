// SIGTERM: no new work, then what was set goes out, then the sockets close, then the process ends by itself.
// Run it: node examples/graceful-shutdown.ts
import { once } from 'node:events';
import { BasicPodManager, KubePodClient, StatusManager } from '../src/index.ts';
import { InMemoryApiServer } from '../src/testing.ts';

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

// The agent's work: it finds out something new of every pod, faster than it can be written.
let looks = 0;
let last = '';
const agent = setInterval(() => {
  last = `look ${++looks}`;
  for (const pod of pods) manager.setPodStatus(pod, { phase: 'Running', message: last });
}, 10);

// So that this example ends without anybody's help; in earnest a service manager or a kubelet sends it.
setTimeout(() => process.kill(process.pid, 'SIGTERM'), 300);
await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);

// 1. Those who set statuses stop: afterwards setPodStatus would throw ERR_STOPPED.
clearInterval(agent);
// 2. What is set but not sent yet goes out, for at most so long. The grace period of your own process must be longer.
await manager.stop({ drainTimeoutMs: 5000 });
// 3. The client belongs to whoever made it.
await podClient.close();

const written = pods.filter(({ metadata }) => server.store.get('default', metadata?.name ?? '').status?.message === last);
console.log(`Set last: ${last}. On the apiserver: ${written.length} of ${pods.length} pods.`);
process.exitCode = written.length === pods.length ? 0 : 1;
await server.stop();
