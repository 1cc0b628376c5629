// A node agent over a runtime in memory, whose turns are measured: `agent-process.ts KUBECONFIG NODE FOLDER`. Ends when its standard input does.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { KubeConfig } from '@kubernetes/client-node';
import { NodeAgent } from 'pod-status-manager/kubelet';
import { FakeMounter, FakeRuntime } from 'pod-status-manager/testing';
import { networkOf } from '../network-of.ts';

const [config = '', nodeName = '', folder = ''] = process.argv.slice(2);
const kubeConfig = new KubeConfig();
kubeConfig.loadFromString(readFileSync(config, 'utf8'));
let repairs = 0;
const count = (name: string, _labels?: object, by = 1): void => {
  if (name === 'pod_status_manager_repairs_total') repairs += by;
};
const agent = new NodeAgent({
  ...{
    kubeConfig,
    nodeName,
    nodeIPs: ['192.0.2.10'],
    network: networkOf('192.0.2.10'),
    runtime: new FakeRuntime({ podCIDR: '10.244.0.0/16' }),
  },
  ...{
    rootDirectory: join(folder, 'kubelet'),
    podLogsDirectory: join(folder, 'logs'),
    resolvConf: '',
    mounter: new FakeMounter(),
  },
  ...{
    cgroupsPerQOS: false,
    evictionHard: {},
    imageGCHighThresholdPercent: 100,
    maxPods: 500,
    registryPullQPS: 0,
    serializeImagePulls: false,
    logger: null,
    metrics: { increment: count, observe: () => {}, set: () => {} },
  },
});
const turns = monitorEventLoopDelay({ resolution: 5 });
let mostRSS = 0;
let mostHeap = 0;
setInterval(() => {
  const { rss, heapUsed } = process.memoryUsage();
  mostRSS = Math.max(mostRSS, rss);
  mostHeap = Math.max(mostHeap, heapUsed);
}, 20).unref();
await agent.start();
turns.enable();
let mostCpu = 0;
let cpu = process.threadCpuUsage();
setInterval(() => {
  const { user, system } = process.threadCpuUsage(cpu);
  mostCpu = Math.max(mostCpu, user + system);
  cpu = process.threadCpuUsage();
}, 5).unref();
console.log('ready');
process.stdin.on('data', () => {
  const inMB = (bytes: number): number => Math.round(bytes / 1_048_576);
  const [longestTurnMs, longestTurnCpuMs] = [Math.round(turns.max / 1e6), Math.round(mostCpu / 1000)];
  console.log(JSON.stringify({ longestTurnMs, longestTurnCpuMs, mostHeapMB: inMB(mostHeap), mostRSSMB: inMB(mostRSS), repairs }));
  turns.reset();
  mostCpu = 0;
  repairs = 0;
  mostHeap = 0;
  mostRSS = 0;
});
process.stdin.on('end', () => void agent.stop().then(() => process.exit(0)));
