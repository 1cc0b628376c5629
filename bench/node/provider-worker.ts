// node bench/node/provider-worker.ts KUBECONFIG NODE: a virtual node whose pods run at once, until SIGTERM. It says `ready`
// on standard output once it is registered.
import type { Pod, PodStatus } from '../../src/api/json/types.ts';
import { loadClientConfig } from '../../src/index.ts';
import { ProviderNode, podStatusFromContainers } from '../../src/node.ts';

const [kubeconfig = '', nodeName = ''] = process.argv.slice(2);
const kubeConfig = loadClientConfig({ file: kubeconfig });
const statuses = new Map<string, PodStatus>();
const uidOf = (pod: Pod): string => pod.metadata?.uid ?? '';

const node = new ProviderNode({
  logger: null,
  kubeConfig,
  nodeName,
  provider: {
    async createPod(pod) {
      const startedAt = Date.now();
      const containers = (pod.spec?.containers ?? []).map(({ name }) => ({ name, state: 'running' as const, startedAt }));
      statuses.set(uidOf(pod), podStatusFromContainers(pod, containers, { podIPs: ['198.51.100.7'], hostIPs: ['192.0.2.10'] }));
    },
    async updatePod() {},
    async deletePod(pod) {
      statuses.delete(uidOf(pod));
    },
    async getPodStatus(pod) {
      return statuses.get(uidOf(pod));
    },
  },
});
await node.start();
console.log('ready');
process.once('SIGTERM', () => void node.stop());
