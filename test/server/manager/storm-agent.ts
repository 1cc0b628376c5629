// A node agent in its own process, for process-end.test.ts. It sets every pod's status again and again until SIGTERM. Then
// it stops its parts, and ends because nothing is left. It prints `storming` early on, and what is left at its end.
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { ApiServerPodSource, BasicPodManager, KubePodClient, StatusManager } from '../../../src/index.ts';

/** The resources that keep this process alive, and its listeners. */
function left(): object {
  const listeners = process.eventNames().map((name) => `${process.listenerCount(name)} for ${String(name)}`);
  return { resources: process.getActiveResourcesInfo().sort(), listeners: listeners.sort() };
}

// opens the process's own output streams before the first count
for (const stream of [process.stdout, process.stderr]) stream.write('');
const before = left();

const kubeConfig = new KubeConfig();
kubeConfig.loadFromString(process.env.AGENT_KUBECONFIG ?? '');
const podManager = new BasicPodManager();
const podSource = new ApiServerPodSource({ logger: null, kubeConfig, nodeName: process.env.AGENT_NODE ?? '', podManager });
await podSource.start();
const podClient = KubePodClient.fromKubeConfig(kubeConfig, { connections: 4 });
const manager = new StatusManager({
  logger: null,
  podClient,
  podManager,
  podDeletionSafety: { podCouldHaveRunningContainers: () => true, podResourcesAreReclaimed: () => false },
  podSource,
});
manager.start();

let message = '';
let round = 0;
const storm = setInterval(() => {
  message = `round ${++round}`;
  for (const pod of podManager.getPods()) manager.setPodStatus(pod, { phase: 'Running', message });
  if (round === 3) process.stdout.write('storming\n');
}, 5);
await once(process, 'SIGTERM');
clearInterval(storm);
await manager.stop();
await podSource.stop();
await podClient.close();
// one turn of the event loop, in which closed resources go away
await nextTurn();
process.stdout.write(`${JSON.stringify({ message, before, after: left() })}\n`);
