// node bench/virtual-kubelet/mock-node.js KUBECONFIG NODE ADDRESS CERT KEY CLIENT_CA: a node whose provider does what
// virtual-kubelet's mock does, until SIGTERM: pods in memory, Ready at once. It runs from the built package, as users have it.
import { loadClientConfig } from 'pod-status-manager';
import { ProviderNode } from 'pod-status-manager/node';

const [kubeconfig = '', nodeName = '', address = '', tlsCertFile = '', tlsPrivateKeyFile = '', clientCAFile = ''] =
  process.argv.slice(2);
const kubeConfig = loadClientConfig({ file: kubeconfig });

const pods = new Map();
const provider = {
  async createPod(pod) {
    const startedAt = Date.now();
    const containers = pod.spec.containers.map(({ name }) => ({ name, state: 'running', startedAt }));
    pods.set(pod.metadata.uid, { pod, containers });
  },
  async updatePod() {},
  async deletePod({ metadata }) {
    const finishedAt = Date.now();
    const before = pods.get(metadata.uid)?.containers ?? [];
    pods.delete(metadata.uid);
    return before.map(({ name }) => ({ name, state: 'exited', exitCode: 0, finishedAt }));
  },
  async getPodStatus({ metadata }) {
    return pods.get(metadata.uid)?.containers;
  },
  async getContainerLogs() {
    return '';
  },
  async getPods() {
    return [...pods.values()].map(({ pod }) => pod);
  },
};

const node = new ProviderNode({
  kubeConfig,
  nodeName,
  capacity: { cpu: '1000', memory: '4000Gi', pods: '1000' },
  addresses: [{ type: 'InternalIP', address }],
  provider,
  server: { address, tlsCertFile, tlsPrivateKeyFile, clientCAFile },
});
process.once('SIGTERM', () => void node.stop());
await node.start();
