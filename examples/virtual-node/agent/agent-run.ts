import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NodeAgent } from 'pod-status-manager/kubelet';
import { FakeMounter, FakeRuntime } from 'pod-status-manager/testing';
import { PodOwners } from '../pod-owners.ts';
import { Random } from '../random.ts';
import type { DemoRun, RunContext } from '../run.ts';
import { texts } from '../view.ts';
import { disagreements, RuntimeLives } from './agent-verdict.ts';
import { PodLives, podOf } from './pod-shapes.ts';

const nodeName = 'node-in-memory';

/** A node agent over a container runtime in memory. */
export async function agentRun(context: RunContext, pace: number): Promise<DemoRun> {
  const { options, world } = context;
  const { pods, seed } = options;
  const { admin, namespace, runID } = world;
  const folder = await mkdtemp(join(tmpdir(), 'node-in-memory-'));
  const runtime = new FakeRuntime({ ...new PodLives(new Random(seed, 1)), podCIDR: '10.244.0.0/16' });
  const lives = new RuntimeLives(runtime.history);
  let pulls = 0;
  const serverPods = () => world.memory?.store.list({ namespace }) ?? [];
  return {
    title: 'a node agent over a container runtime in memory',
    claim: ' and what ran, and nothing of any pod runs on',
    nodes: [nodeAgent(context, runtime, folder)],
    owners: new PodOwners({
      ...{ admin, namespace, runID, pods, pace, seed },
      makePod: (suffix, random) => podOf(suffix, nodeName, random),
      life: [0.3, 0.9],
      sameName: 0,
    }),
    parts: { runtime, nodeName },
    rows() {
      pulls += runtime.calls.filter(({ call }) => call === 'PullImage').length;
      runtime.clearCalls();
      const { started, ended } = lives.update();
      return [['runtime', texts([`${pulls} pulls`, `${started} containers started`, `${ended} ended`])]];
    },
    wrong: () => disagreements(serverPods(), lives.update().byID),
    async left() {
      // the records of what has ended are removed once a minute
      const sandboxes = await runtime.listPodSandboxes({ ready: true });
      return sandboxes.map(({ metadata }) => `the sandbox of ${metadata.name} is not ended`);
    },
    async close() {
      await runtime.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Nothing of this machine is touched beside the folder, nor does it matter what the machine has left. */
function nodeAgent({ world, statuses, journal, options }: RunContext, runtime: FakeRuntime, folder: string): NodeAgent {
  return new NodeAgent({
    ...{ transport: world.transport, podClient: statuses.podClient, nodeName, runtime, logger: journal, removeOnStop: true },
    nodeIPs: ['192.0.2.10'],
    // an address of documents is on no machine
    network: {
      addresses: () => [{ name: 'eth0', address: '192.0.2.10', loopback: false }],
      defaultRoutes: () => [],
      lookup: async () => [],
    },
    rootDirectory: join(folder, 'kubelet'),
    podLogsDirectory: join(folder, 'logs'),
    resolvConf: '',
    mounter: new FakeMounter(),
    cgroupsPerQOS: false,
    evictionHard: {},
    imageGCHighThresholdPercent: 100,
    maxPods: 5000,
    registryPullQPS: 0,
    serializeImagePulls: false,
    ...(options.breaks && {
      statusManager: { requestTimeoutMs: 2000, syncPeriodMs: 3000 },
      nodeLeaseDurationSeconds: 8,
      nodeStatusUpdateFrequencyMs: 1000,
      nodeStatusReportFrequencyMs: 1000,
    }),
  });
}
