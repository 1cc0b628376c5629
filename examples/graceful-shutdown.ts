// SIGTERM: no new work, then what was set goes out, then the sockets close, then the process ends by itself.
// Run it: node examples/graceful-shutdown.ts
import { once } from 'node:events';
import { BasicPodManager, KubePodClient, StatusManager } from '../src/index.ts';
import { InMemoryApiServer } from '../src/testing.ts';

const server = await InMemoryApiServer.start();
const pod = server.store.create({
  metadata: { name: 'web', namespace: 'default' },
  spec: { nodeName: 'my-node', containers: [{ name: 'app', image: 'registry.example/app:1' }] },
});

const podManager = new BasicPodManager();
podManager.addPod(pod);
const podClient = KubePodClient.fromKubeConfig(server.kubeConfig());
const manager = new StatusManager({
  podClient,
  podManager,
  podDeletionSafety: { podCouldHaveRunningContainers: () => true, podResourcesAreReclaimed: () => false },
});
manager.start();

// The agent's work: it finds out something new all the time.
let last = '';
const agent = setInterval(() => {
  last = `look ${Number(last.slice(5)) + 1}`;
  manager.setPodStatus(pod, { phase: 'Running', message: last });
}, 20);

// So that this example ends without anybody's help; in earnest a service manager or a kubelet sends it.
setTimeout(() => process.kill(process.pid, 'SIGTERM'), 300);
await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);

// 1. Those who set statuses stop: afterwards setPodStatus would throw ERR_STOPPED.
clearInterval(agent);
// 2. What is set but not sent yet goes out, for at most so long. The grace period of your own process must be longer.
await manager.stop({ drainTimeoutMs: 5000 });
// 3. The client belongs to whoever made it.
await podClient.close();

const { status } = server.store.get('default', 'web');
console.log(`Set last: ${last}. On the apiserver: ${status?.message}.`);
process.exitCode = status?.message === last ? 0 : 1;
await server.stop();
