// node bench/mirror.ts [--times 50]
// Measures on a real apiserver how long it takes from deleting a mirror pod by hand until the new one says Running.
import { parseArgs } from 'node:util';
import { ApiServerPodSource, BasicPodManager, KubePodClient, KubeTransport, StatusManager } from '../src/index.ts';
import { MirrorPodClient, MirrorPodReconciler } from '../src/mirror.ts';
import { buildRunningStatus, buildStaticPod } from '../src/testing.ts';
import { AdminClient } from '../test/support/admin-client.ts';
import { ControlPlane } from '../test/support/control-plane/control-plane.ts';
import { median, percentile, rounded } from './support/statistics.ts';

const { values } = parseArgs({ options: { times: { type: 'string', default: '50' } } });
const times = Number(values.times);
const nodeName = 'bench-node';

await using controlPlane = await ControlPlane.start();
const kubeConfig = controlPlane.kubeConfig();
const admin = new AdminClient(kubeConfig);
const namespace = await admin.createNamespace('bench-mirror');
const podManager = new BasicPodManager();
await using podSource = new ApiServerPodSource({ logger: null, kubeConfig, nodeName, podManager });
await using podClient = KubePodClient.fromKubeConfig(kubeConfig);
await using transport = new KubeTransport(kubeConfig);
await using manager = new StatusManager({
  logger: null,
  podClient,
  podManager,
  podSource,
  podDeletionSafety: { podCouldHaveRunningContainers: () => true, podResourcesAreReclaimed: () => false },
});
const getNode = (name: string): object => ({ metadata: { name, uid: 'uid-of-the-node' } });
const mirrorPodClient = new MirrorPodClient({ transport, nodeName, getNode });
await using reconciler = new MirrorPodReconciler({ logger: null, podManager, podSource, nodeName, mirrorPodClient });

const name = 'static-bench-node';
const pod = buildStaticPod({ metadata: { name, namespace }, spec: { nodeName } });
podManager.addPod(pod);
manager.setPodStatus(pod, buildRunningStatus(pod));
manager.start();
reconciler.start();
await podSource.start();

// who looks is no part of what is measured: a watch of its own
const running = Promise.withResolvers<string>();
let next = running;
let last = '';
const watching = (async () => {
  for await (const event of admin.watchPods(namespace)) {
    if (event.type === 'ERROR' || event.type === 'DELETED' || event.type === 'BOOKMARK') continue;
    const { metadata, status } = event.object;
    if (metadata.uid !== last && status.phase === 'Running') next.resolve(metadata.uid);
  }
})();
watching.catch(() => {});
last = await running.promise;

const took: number[] = [];
for (let i = 0; i < times; i++) {
  next = Promise.withResolvers();
  const deletedAt = performance.now();
  const answer = await admin.deletePod(namespace, name, { gracePeriodSeconds: 0 });
  if (answer.status !== 200) throw new Error(`DELETE answered ${answer.status}`);
  last = await next.promise;
  took.push(performance.now() - deletedAt);
  // each time by itself: nobody deletes a pod twice in the same second
  await new Promise((resolve) => setTimeout(resolve, 300));
}
const figures = { times, medianMs: median(took), p95Ms: percentile(took, 0.95), worstMs: Math.max(...took) };
console.log('from the DELETE until the new mirror pod says Running');
console.table(Object.fromEntries(Object.entries(figures).map(([figure, value]) => [figure, rounded(value)])));
await admin.close();
