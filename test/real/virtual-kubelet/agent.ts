// A node whose provider does what virtual-kubelet's mock does: every pod runs at once, and takes what nobody has measured.
// `agent.ts KUBECONFIG NODE ADDRESS CERTIFICATE KEY [CLIENT-CA]`. Without the last nobody may call the node.
import { KubeConfig } from '@kubernetes/client-node';
import { type NodePod, type PodProvider, type PodStats, ProviderNode, type StatsSummary } from 'pod-status-manager/node';

const [kubeconfig = '', nodeName = '', address = '', tlsCertFile = '', tlsPrivateKeyFile = '', clientCAFile] =
  process.argv.slice(2);
const startTime = new Date().toISOString();
const pods = new Map<string, NodePod>();

function statsOf({ metadata: { name, namespace, uid }, spec }: NodePod): PodStats {
  const time = new Date().toISOString();
  const usage = { cpu: { time, usageCoreNanoSeconds: 1e9 }, memory: { time, workingSetBytes: 1 << 20 } };
  const containers = spec.containers.map((container) => ({ name: container.name, startTime, ...usage }));
  return { podRef: { name, namespace, uid }, startTime, containers, ...usage };
}

const provider: PodProvider = {
  createPod: (pod) => pods.set(pod.metadata.uid, pod),
  deletePod: (pod) => pods.delete(pod.metadata.uid),
  getPods: () => [...pods.values()],
  getPodStatus: (pod) =>
    pods.has(pod.metadata.uid) ? { phase: 'Running', podIP: '5.6.7.8', podIPs: [{ ip: '5.6.7.8' }] } : undefined,
  getContainerLogs: () => '',
  runInContainer: async () => 0,
  attachToContainer: async () => 0,
  portForward: async () => {},
  getStatsSummary: (): StatsSummary => ({ node: { nodeName, startTime }, pods: Array.from(pods.values(), statsOf) }),
};

const kubeConfig = new KubeConfig();
kubeConfig.loadFromFile(kubeconfig);
const node = new ProviderNode({
  kubeConfig,
  nodeName,
  provider,
  addresses: [{ type: 'InternalIP', address }],
  ...(clientCAFile !== undefined && { server: { address, tlsCertFile, tlsPrivateKeyFile, clientCAFile, anonymous: true } }),
});
await node.start();
console.log('ready');
process.once('SIGTERM', () => void node.stop().then(() => process.exit(0)));
