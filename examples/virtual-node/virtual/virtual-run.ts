import { ProviderNode } from 'pod-status-manager/node';
import { breakable } from '../faults/breakable-provider.ts';
import { PodOwners, runLabel } from '../pod-owners.ts';
import type { DemoRun, RunContext } from '../run.ts';
import { texts } from '../view.ts';
import { ForeignController } from './foreign-controller.ts';
import { makePod } from './pod-template.ts';
import { VirtualProvider } from './virtual-provider.ts';

/** An address for documentation. */
const nodeIP = '192.0.2.10';

/** A virtual node, whose containers live by the clock and by chance, and a foreign controller that writes into the same statuses. */
export function virtualRun({ options, world, statuses, journal }: RunContext, pace: number): DemoRun {
  const { pods, seed, breaks } = options;
  const { admin, namespace, runID } = world;
  const nodeName = `virtual-node-${runID}`;
  const provider = new VirtualProvider(() => node.statusManager);
  const broken = {};
  const node = new ProviderNode({
    ...{ transport: world.transport, podClient: statuses.podClient, nodeName, namespace, logger: journal },
    provider: breakable(provider, broken),
    addresses: [{ type: 'InternalIP', address: nodeIP }],
    // nothing else is to land here: the taint keeps most pods away, the rest finds no room, and no DaemonSet is for this system
    taints: [{ key: runLabel, value: runID, effect: 'NoSchedule' }],
    capacity: { cpu: '1000', memory: '4000Gi', pods: '5000' },
    allocatable: { cpu: '0', memory: '0', pods: '0' },
    nodeInfo: { operatingSystem: 'virtual' },
    labels: { [runLabel]: runID },
    removeOnStop: true,
    ...(breaks && quickNode),
  });
  const owners = new PodOwners({
    ...{ admin, namespace, runID, pods, pace, seed },
    makePod: (suffix, random) => makePod(suffix, nodeName, random),
    life: [0.25, 1.6],
    sameName: 0.4,
  });
  const foreign = new ForeignController(admin, namespace, owners.alive, seed);
  return {
    title: 'a virtual node',
    claim: '',
    nodes: [node],
    owners,
    foreignConditions: foreign.written,
    parts: { provider: { broken, notify: (podUID) => node.notify(podUID) } },
    play: (over) => foreign.run(over),
    freeze: () => provider.freeze(),
    rows() {
      const { crashes, readinessFlips, told } = provider.counts;
      return [
        [
          'provider',
          texts([
            `${crashes} crashes`,
            `${readinessFlips} probe results`,
            `${told} statuses told`,
            `${foreign.writes} foreign conditions`,
          ]),
        ],
      ];
    },
    wrong: () => [],
    // a life that goes on would tell a stopped status manager of its probes
    stop: () => provider.close(),
  };
}

/** A node in a run in which things go wrong: it notices sooner, and gives up sooner. */
export const quickNode = {
  statusManager: { requestTimeoutMs: 2000, syncPeriodMs: 3000 },
  leaseDurationSeconds: 8,
  statusUpdateFrequencyMs: 1000,
  statusReportFrequencyMs: 1000,
  pods: { backoffMaxMs: 2000 },
};
