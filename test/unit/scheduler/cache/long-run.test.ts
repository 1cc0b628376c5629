import { describe, expect, it } from 'vitest';
import type { WirePod } from '../../../../src/api/json/types.ts';
import { SchedulerCache } from '../../../../src/scheduler/cache/scheduler-cache.ts';
import { CycleState } from '../../../../src/scheduler/framework/cycle-state.ts';
import type { Plugin, PluginFactory, PluginHandle } from '../../../../src/scheduler/framework/plugin.ts';
import type { Snapshot } from '../../../../src/scheduler/nodes/node-info.ts';
import { createPodInfo, type PodInfo } from '../../../../src/scheduler/nodes/pod-info.ts';
import { createInterPodAffinity } from '../../../../src/scheduler/plugins/pod-affinity/inter-pod-affinity.ts';
import { createPodTopologySpread } from '../../../../src/scheduler/plugins/spread/pod-topology-spread.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { Prng } from '../../../random/chaos/prng.ts';
import { clusterObjects } from '../../../support/cluster-objects.ts';
import { createNodeInfo, nodeSnapshotOf } from '../../../support/node-snapshots.ts';
import { barePod } from '../../../support/pods.ts';

const keys = ['zone', 'kubernetes.io/hostname'];

/** A whole number from 0 up to, but not including, `end`. */
const below = (prng: Prng, end: number): number => prng.int(0, end - 1);

/** One plugin for the whole run, which is asked with the snapshot of the moment. */
class LongRun {
  readonly #plugin: Plugin;
  snapshot: Snapshot;

  constructor(factory: PluginFactory, snapshot: Snapshot) {
    this.snapshot = snapshot;
    const objects: PluginHandle['objects'] = (resource) => clusterObjects().lister(resource);
    this.#plugin = factory(undefined, { snapshot: () => this.snapshot, objects } as Partial<PluginHandle> as PluginHandle);
  }

  /** What the plugin says of every node. */
  ask(pod: PodInfo): unknown {
    const { nodes } = this.snapshot;
    const state = new CycleState();
    const before = this.#plugin.preFilter?.(state, pod, this.snapshot);
    const failures = before === 'skip' ? [] : nodes.map((node) => this.#plugin.filter?.(state, pod, node)?.reasons ?? []);
    if (this.#plugin.preScore?.(state, pod, nodes) === 'skip') return { before, failures };
    const scores = nodes.map((node) => this.#plugin.score?.(state, pod, node) ?? 0);
    this.#plugin.normalizeScores?.(state, pod, scores, nodes);
    return { before, failures, scores };
  }
}

function randomPod(prng: Prng, index: number): WirePod {
  const app = `app-${below(prng, 3)}`;
  const labelSelector = { matchLabels: { app: `app-${below(prng, 3)}` } };
  const term = { topologyKey: prng.pick(keys) as string, labelSelector };
  const which = below(prng, 4);
  const list =
    below(prng, 2) === 0
      ? { requiredDuringSchedulingIgnoredDuringExecution: [term] }
      : {
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1 + below(prng, 50), podAffinityTerm: term }],
        };
  const constraint = { ...term, maxSkew: 1, whenUnsatisfiable: prng.pick(['DoNotSchedule', 'ScheduleAnyway']) as string };
  const nodeSelector = below(prng, 4) === 0 ? { nodeSelector: { zone: 'z1' } } : {};
  const affinity = which === 0 ? { affinity: { podAffinity: list } } : which === 1 ? { affinity: { podAntiAffinity: list } } : {};
  return barePod({
    metadata: { name: `p${index}`, namespace: 'd', uid: `u${index}`, labels: { app } },
    spec: { ...nodeSelector, ...affinity, ...(which > 1 && { topologySpreadConstraints: [constraint] }) },
  });
}

const randomNode = (prng: Prng, nodes: number) => {
  const name = `n${below(prng, nodes)}`;
  return { metadata: { name, labels: { 'kubernetes.io/hostname': name, zone: `z${below(prng, 3)}` } } };
};

describe.each([
  ['PodTopologySpread', createPodTopologySpread],
  ['InterPodAffinity', createInterPodAffinity],
])('%s after many changes', (_name, factory) => {
  // pods of one kind on many nodes are not counted anew each time
  it.each([
    [1, 8, 150],
    [2, 8, 150],
    [3, 8, 150],
    [4, 40, 300],
    [5, 40, 300],
  ])('says what it says of nodes that it sees for the first time: seed %d, %d nodes', (seed, nodes, steps) => {
    const prng = new Prng(seed);
    const cache = new SchedulerCache({ clock: new FakeClock() });
    const run = new LongRun(factory, cache.updateSnapshot());
    const pods: { readonly info: PodInfo; readonly nodeName: string }[] = [];
    let answers = 0;
    for (let step = 0; step < steps; step++) {
      const info = createPodInfo(randomPod(prng, step));
      const nodeName = `n${below(prng, nodes)}`;
      if (step < nodes || below(prng, 5) === 0) cache.addNode(randomNode(prng, nodes));
      if (below(prng, 12) === 0) cache.removeNode(randomNode(prng, nodes));
      cache.assumePod(info, nodeName);
      pods.push({ info, nodeName });
      const gone = below(prng, 2) === 0 ? pods.splice(below(prng, pods.length), 1)[0] : undefined;
      if (gone !== undefined) cache.forgetPod(gone.info, gone.nodeName);
      const snapshot = cache.updateSnapshot();
      const fresh = nodeSnapshotOf(snapshot.nodes.map(({ node, pods: there }) => createNodeInfo(node, there)));
      const asked = createPodInfo(randomPod(prng, 10_000 + step));
      const answer = run.ask(asked);
      expect(answer).toEqual(new LongRun(factory, fresh).ask(asked));
      if ((answer as { readonly before?: unknown }).before !== 'skip') answers += 1;
    }
    expect(answers).toBeGreaterThan(steps / 10);
  });
});
