import { resources } from 'pod-status-manager/reflector';
import { ClusterScheduler } from 'pod-status-manager/scheduler';
import { PodOwners } from '../pod-owners.ts';
import type { DemoRun, RunContext } from '../run.ts';
import { ms, type Row, type Style } from '../view.ts';
import { demoNodes, providerNode, type SizedNode } from './demo-nodes.ts';
import { schedulablePod } from './demo-pods.ts';
import { type Load, Placements } from './placements.ts';

const startTimeoutMs = 10_000;
const barWidth = 20;

/** A scheduler, and six virtual nodes of three sizes, for pods that have no node yet. */
export function scheduleRun(context: RunContext, pace: number): DemoRun {
  const { options, world, journal } = context;
  const { pods, seed } = options;
  const { admin, namespace, runID, memory, transport } = world;
  const broken = {};
  const nodes = demoNodes.map((node) => providerNode(node, context, broken));
  const scheduler = new ClusterScheduler({ transport, leaderElection: false, logger: journal });
  const owners = new PodOwners({
    ...{ admin, namespace, runID, pods, pace, seed },
    makePod: schedulablePod,
    life: [0.3, 0.9],
    sameName: 0,
  });
  const placements = new Placements(demoNodes, () => performance.now());
  const endWatch = memory?.store.watch((change) => {
    placements.note(change);
    const { metadata, status } = change.object;
    // the scheduler has taken its place for a pod of more weight
    if (status?.conditions?.some(({ type }) => type === 'DisruptionTarget')) owners.alive.delete(metadata?.uid ?? '');
  });
  return {
    title: `a scheduler and ${nodes.length} virtual nodes in memory`,
    claim: ', no pod had two nodes, no node had more than it can hold, and nothing is left',
    ...{ nodes, owners },
    parts: {
      provider: { broken, notify: (podUID) => nodes.find(({ podManager }) => podManager.getPodByUID(podUID))?.notify(podUID) },
    },
    async begin() {
      // a new node is tainted until it is ready, and there is no node controller here
      const objects = memory?.objects(resources.nodes);
      for (const node of objects?.list() ?? []) objects?.update({ ...node, spec: {} });
      await scheduler.start({ timeoutMs: startTimeoutMs });
    },
    rows() {
      const waiting = memory?.store.list({ namespace }).filter(({ spec }) => spec?.nodeName === undefined) ?? [];
      const reason = waiting.flatMap(
        ({ status }) => status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message ?? [],
      )[0];
      const placed = `${placements.placed} placed, ${ms(placements.medianWaitMs())} after creation`;
      return [
        [
          'scheduler',
          [{ text: placed }, { text: `${waiting.length} without a node` }, ...(reason === undefined ? [] : [{ text: reason }])],
        ],
        ...demoNodes.map((node) => loadRow(node, placements.load(node.name))),
      ];
    },
    wrong: () => placements.problems,
    left: async () => [],
    async stop() {
      endWatch?.();
      await scheduler.stop();
    },
  };
}

function loadRow({ name, zone, has }: SizedNode, load: Load): Row {
  const [cpu, memory] = [load.milliCPU / has.milliCPU, load.memoryMiB / has.memoryMiB];
  const most = Math.max(cpu, memory);
  const style: Style = most > 0.9 ? 'red' : most > 0.6 ? 'yellow' : 'green';
  const cores = `${(load.milliCPU / 1000).toFixed(1)} of ${has.milliCPU / 1000} CPU`;
  return [
    name,
    [
      { text: zone },
      { text: `${bar(cpu)} ${cores}`, style },
      { text: `${bar(memory)} memory`, style },
      { text: `${load.pods} pods` },
    ],
    true,
  ];
}

function bar(part: number): string {
  const full = Math.min(barWidth, Math.round(part * barWidth));
  return '█'.repeat(full) + '░'.repeat(barWidth - full);
}
