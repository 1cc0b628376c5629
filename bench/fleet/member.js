// node bench/fleet/member.js KUBECONFIG WAY NODES INDEX MEMBERS: one of the processes that together are the nodes `node-0000` and on,
// until SIGTERM. WAY `fleet` is a NodeFleet; with `split` each process has the same share for ever, as without a fleet. Pods run at
// once, in memory. It runs from the built package, as users have it, and says `ready` once it has started.
import { KubeTransport, loadClientConfig } from 'pod-status-manager';
import { ProviderNode, podStatusFromContainers } from 'pod-status-manager/node';

const [kubeconfig = '', way = '', count = '', index = '', members = ''] = process.argv.slice(2);
const kubeConfig = loadClientConfig({ file: kubeconfig });
const names = Array.from({ length: Number(count) }, (_, number) => `node-${String(number).padStart(4, '0')}`);
const addresses = { podIPs: ['198.51.100.7'], hostIPs: ['192.0.2.10'] };
const capacity = { cpu: '1k', memory: '1Ti', pods: '10k' };

/** The provider of one node. What it runs lives on elsewhere: a node that comes from another process brings its pods with it. */
function provider() {
  const startedAtOf = new Map();
  return {
    adopt(pods) {
      for (const pod of pods) startedAtOf.set(pod.metadata.uid, Date.parse(pod.status?.startTime) || Date.now());
    },
    async createPod(pod) {
      startedAtOf.set(pod.metadata.uid, Date.now());
    },
    async updatePod() {},
    async deletePod(pod) {
      startedAtOf.delete(pod.metadata.uid);
    },
    async getPodStatus(pod) {
      const startedAt = startedAtOf.get(pod.metadata.uid);
      if (startedAt === undefined) return undefined;
      const containers = pod.spec.containers.map(({ name }) => ({ name, state: 'running', startedAt }));
      return podStatusFromContainers(pod, containers, addresses);
    },
    notifyPods() {},
  };
}

async function startFleet() {
  const { NodeFleet } = await import('pod-status-manager/fleet');
  const fleet = new NodeFleet({ kubeConfig, name: 'bench', nodes: names, provider, nodeOptions: { capacity }, logger: null });
  await fleet.start();
  return fleet;
}

async function startSplit() {
  const transport = new KubeTransport(kubeConfig, { userAgent: 'bench-split' });
  const mine = names.filter((_, number) => number % Number(members) === Number(index));
  const nodes = mine.map((nodeName) => new ProviderNode({ transport, nodeName, provider: provider(), capacity, logger: null }));
  await Promise.all(nodes.map((node) => node.start()));
  return {
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()));
      await transport.close();
    },
  };
}

const started = way === 'fleet' ? await startFleet() : await startSplit();
process.once('SIGTERM', () => void started.stop());
console.log('ready');
