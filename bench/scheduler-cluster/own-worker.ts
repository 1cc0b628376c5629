// Our scheduler, as it is built, in a process of its own, until SIGTERM: own-worker.ts KUBECONFIG QPS BURST
import { once } from 'node:events';
import { KubeConfig } from '@kubernetes/client-node';
import { ClusterScheduler } from 'pod-status-manager/scheduler';

const [file = '', qps, burst] = process.argv.slice(2);
const kubeConfig = new KubeConfig();
kubeConfig.loadFromFile(file);
const scheduler = new ClusterScheduler({
  kubeConfig,
  leaderElection: false,
  requestLimit: { qps: Number(qps), burst: Number(burst) },
});
const asked = once(process, 'SIGTERM');
await scheduler.start();
await asked;
await scheduler.stop();
process.disconnect?.();
