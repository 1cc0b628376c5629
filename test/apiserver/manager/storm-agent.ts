// A node agent in a process of its own: sets every pod's status again and again until SIGTERM, then stops as an agent
// should, and ends because nothing is left. Prints `storming` once it does, at its end what was left: see process-end.test.ts.
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { ApiServerPodSource, BasicPodManager, KubePodClient, StatusManager } from '../../../src/index.ts';

/** What keeps a process going or listens to it. */
function left(): object {
  const listeners = process.eventNames().map((name) => `${process.listenerCount(name)} for ${String(name)}`);
  return { resources: process.getActiveResourcesInfo().sort(), listeners: listeners.sort() };
}

// its own output is open before and after
for (const stream of [process.stdout, process.stderr]) stream.write('');
const before = left();

const kubeConfig = new KubeConfig();
kubeConfig.loadFromString(process.env.AGENT_KUBECONFIG ?? '');
const podManager = new BasicPodManager();
const podSource = new ApiServerPodSource({ kubeConfig, nodeName: process.env.AGENT_NODE ?? '', podManager });
await podSource.start();
const podClient = KubePodClient.fromKubeConfig(kubeConfig, { connections: 4 });
const manager = new StatusManager({
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
// one turn, in which what was closed is gone
await nextTurn();
process.stdout.write(`${JSON.stringify({ message, before, after: left() })}\n`);
