// A node agent in the machine, whose containers are in memory: node agent-of-machine.ts SERVER FOLDER. It writes FOLDER/stops.
import { appendFileSync, mkdirSync } from 'node:fs';
import { KubeConfig } from '@kubernetes/client-node';
import { NodeAgent } from '../../../../src/kubelet.ts';
import { FakeMounter, FakeRuntime } from '../../../../src/testing.ts';

const [server = '', folder = ''] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const kubeConfig = new KubeConfig();
kubeConfig.loadFromClusterAndUser({ name: 'test', server, skipTLSVerify: true }, { name: 'test' });
/** A container writes its pod's name when it is asked to end, and then needs a second. */
const lives = () => ({ stopTakesMs: 1000, exitCode: 143 });
const runtime = new FakeRuntime({ podCIDR: '10.244.0.0/16', lives });
const stopContainer = runtime.stopContainer.bind(runtime);
runtime.stopContainer = async (id, timeoutSeconds, ...rest) => {
  const [container] = await runtime.listContainers({ containerID: id });
  const pod = container?.labels['io.kubernetes.pod.name'];
  if (container?.state === 'running') appendFileSync(`${folder}/stops`, `${pod} ${timeoutSeconds}\n`);
  return stopContainer(id, timeoutSeconds, ...rest);
};
const agent = new NodeAgent({
  kubeConfig,
  runtime,
  nodeName: 'node-machine',
  nodeIPs: ['10.0.2.2'],
  rootDirectory: `${folder}/kubelet`,
  podLogsDirectory: `${folder}/logs`,
  mounter: new FakeMounter(),
  cgroupsPerQOS: false,
  evictionHard: {},
  imageGCHighThresholdPercent: 100,
  nodeStatusUpdateFrequencyMs: 1000,
  shutdownGracePeriodByPodPriority: [
    { priority: 0, shutdownGracePeriodSeconds: 20 },
    { priority: 1000, shutdownGracePeriodSeconds: 15 },
    { priority: 2_000_000_000, shutdownGracePeriodSeconds: 10 },
  ],
});
process.once('SIGTERM', () => void agent.stop().then(() => process.exit(0)));
await agent.start();
