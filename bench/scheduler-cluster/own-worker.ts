// Our scheduler, as it is built, in a process of its own, until SIGTERM: own-worker.ts KUBECONFIG QPS BURST
import { once } from 'node:events';
import { loadClientConfig } from 'pod-status-manager';
import { ClusterScheduler } from 'pod-status-manager/scheduler';

const [file = '', qps, burst] = process.argv.slice(2);
const kubeConfig = loadClientConfig({ file });
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
