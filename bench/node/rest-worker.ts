// node --expose-gc bench/node/rest-worker.ts KUBECONFIG PREFIX NODES SECONDS alone|shared: starts so many nodes without pods, lets them
// rest, and prints what they cost as JSON.
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeTransport, loadClientConfig } from '../../src/index.ts';
import { ProviderNode, SharedWatches } from '../../src/node.ts';
import type { NodesAtRest } from './nodes-at-rest.ts';

const [kubeconfig = '', prefix = '', count = '', seconds = '', way = ''] = process.argv.slice(2);
const kubeConfig = loadClientConfig({ file: kubeconfig });
const transport = new KubeTransport(kubeConfig, { logger: null });
const sharedWatches = way === 'shared' ? new SharedWatches({ transport, logger: null }) : undefined;
const nodeCount = Number(count);

async function collected(): Promise<NodeJS.MemoryUsage> {
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc?.();
    await sleep(100);
  }
  return process.memoryUsage();
}

const cpuSeconds = (since?: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1e6;
};

const before = await collected();
const provider = { async createPod() {}, async deletePod() {}, getPodStatus: async () => undefined, notifyPods() {} };
const nodes = Array.from({ length: nodeCount }, (_, index) => {
  const shared = sharedWatches && { sharedWatches };
  return new ProviderNode({ transport, ...shared, nodeName: `${prefix}-${index}`, provider, logger: null, removeOnStop: true });
});
const began = performance.now();
await Promise.all(nodes.map((node) => node.start()));
const startSeconds = (performance.now() - began) / 1000;
// the first statuses and Leases belong to the start
await sleep(20_000);
const cpu = process.cpuUsage();
await sleep(Number(seconds) * 1000);
const cpuSecondsPerMinute = (cpuSeconds(cpu) / Number(seconds)) * 60;
const after = await collected();
const result: NodesAtRest = {
  startSeconds,
  heapKiBPerNode: (after.heapUsed - before.heapUsed) / 1024 / nodeCount,
  memoryMiB: after.rss / 1024 / 1024,
  cpuSecondsPerMinute,
};
console.log(JSON.stringify(result));
await new Promise((resolve) => process.once('SIGTERM', resolve));
await Promise.all(nodes.map((node) => node.stop()));
await sharedWatches?.stop();
await transport.close();
