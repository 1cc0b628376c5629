import { CycleState } from '../../../../src/scheduler/framework/cycle-state.ts';
import { Framework } from '../../../../src/scheduler/framework/framework.ts';
import { evictionsOf, type Plugin, type PluginRejection } from '../../../../src/scheduler/framework/plugin.ts';
import { createPodInfo, type PodInfo } from '../../../../src/scheduler/nodes/pod-info.ts';
import { DefaultPreemption } from '../../../../src/scheduler/preemption/default-preemption.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { clusterObjects } from '../../../support/cluster-objects.ts';
import { frameworkContext } from '../../../support/framework-context.ts';
import { createNodeInfo, nodeSnapshotOf } from '../../../support/node-snapshots.ts';
import { barePod } from '../../../support/pods.ts';

export interface PodShape {
  readonly name: string;
  readonly cpu?: number;
  readonly priority?: number;
  /** Second of the minute. */
  readonly started?: number;
  readonly labels?: Record<string, string>;
  readonly policy?: string;
  readonly nominated?: string;
  readonly ending?: 'preemption' | 'eviction';
}

/** A pod that asks for so many CPUs. */
export function podOf({ name, cpu = 1, priority = 0, started, labels, policy, nominated, ending }: PodShape): PodInfo {
  const second = String(started ?? 0).padStart(2, '0');
  const pod = barePod({
    metadata: {
      name,
      namespace: 'd',
      uid: `u-${name}`,
      ...(labels && { labels }),
      ...(ending && { deletionTimestamp: '2000-01-01T01:00:00Z' }),
    },
    spec: {
      schedulerName: 's',
      priority,
      ...(policy && { preemptionPolicy: policy }),
      containers: [{ name: 'c', resources: { requests: { cpu: String(cpu) } } }],
    },
    status: {
      ...(started !== undefined && { startTime: `2000-01-01T00:00:${second}Z` }),
      ...(nominated !== undefined && { nominatedNodeName: nominated }),
      ...(ending && {
        conditions: [
          {
            type: 'DisruptionTarget',
            status: 'True',
            reason: ending === 'preemption' ? 'PreemptionByScheduler' : 'EvictionByEvictionAPI',
          },
        ],
      }),
    },
  });
  return createPodInfo(pod);
}

/** Counts CPUs, and throws for a node of the name `broken`. A node of the name `closed` takes no pod at all. */
const cpuOnly: Plugin = {
  name: 'Cpu',
  filter(_state, pod, node) {
    if (node.name === 'broken') throw new Error('no idea');
    if (node.name === 'closed') return { code: 'UnschedulableAndUnresolvable', reasons: ['closed'] };
    const fits = node.requested.milliCPU + pod.requests.milliCPU <= node.allocatable.milliCPU;
    return fits ? undefined : { code: 'Unschedulable', reasons: ['Insufficient cpu'] };
  },
};

export interface WorldShape {
  /** The pods of each node of 4 CPUs. */
  readonly nodes: Readonly<Record<string, readonly PodShape[]>>;
  readonly budgets?: readonly object[];
  readonly nominated?: Readonly<Record<string, readonly PodShape[]>>;
  readonly args?: unknown;
  readonly random?: () => number;
  readonly isPreempting?: (uid: string) => boolean;
}

/** A framework that counts CPUs and preempts. */
export function preemptionWorld(shape: WorldShape) {
  const nodes = Object.entries(shape.nodes).map(([name, pods]) =>
    createNodeInfo({ metadata: { name }, status: { allocatable: { cpu: '4', pods: '110' } } } as never, pods.map(podOf)),
  );
  const snapshot = nodeSnapshotOf(nodes);
  let plugin: DefaultPreemption | undefined;
  const framework = new Framework(
    frameworkContext({
      snapshot: () => snapshot,
      objects: clusterObjects({ podDisruptionBudgets: shape.budgets }),
      nominated: { onNode: (name) => (shape.nominated?.[name] ?? []).map(podOf) },
      clock: new FakeClock({ start: Date.parse('2000-01-01T00:01:00Z') }),
      ...(shape.isPreempting && { isPreempting: shape.isPreempting }),
      ...(shape.random && { random: shape.random }),
    }),
    (handle) => {
      plugin = new DefaultPreemption(shape.args, handle);
      return { schedulerName: 's', plugins: [{ name: 'Sort', less: () => false }, cpuOnly, plugin], weights: new Map() };
    },
  );
  return {
    framework,
    plugin: plugin as DefaultPreemption,
    /** What postFilter says of the pod, which fits nowhere; a node where a plugin throws counts as full. */
    postFilter(pod: PodShape) {
      const [info, state] = [podOf(pod), new CycleState()];
      const failed = new Map<string, PluginRejection>();
      for (const node of nodes) {
        const full: PluginRejection = { plugin: 'Cpu', code: 'Unschedulable', reasons: ['Insufficient cpu'] };
        const rejection = node.name === 'broken' ? full : framework.runFiltersWithNominated(state, info, node);
        if (rejection !== undefined) failed.set(node.name, rejection);
      }
      const { nominatedNodeName, message, actions = [] } = (plugin as DefaultPreemption).postFilter(state, info, failed);
      return { nominatedNodeName, message, victims: evictionsOf(actions).map(({ victim }) => victim.name) };
    },
  };
}
