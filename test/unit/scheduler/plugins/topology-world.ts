import type { WireNode, WirePod } from '../../../../src/api/json/types.ts';
import { CycleState } from '../../../../src/scheduler/framework/cycle-state.ts';
import type { Plugin, PluginFactory, PluginHandle } from '../../../../src/scheduler/framework/plugin.ts';
import type { NodeInfo, Snapshot } from '../../../../src/scheduler/nodes/node-info.ts';
import { createPodInfo, type PodInfo } from '../../../../src/scheduler/nodes/pod-info.ts';
import { clusterObjects } from '../../../support/cluster-objects.ts';
import { createNodeInfo, nodeSnapshotOf } from '../../../support/node-snapshots.ts';
import { type BareParts, barePod } from '../../../support/pods.ts';

export type Labels = Readonly<Record<string, string>>;

/** A pod of the namespace `d`, with more of a spec. */
export function podOf(
  name: string,
  labels: Labels = {},
  spec: BareParts['spec'] = {},
  more: BareParts['metadata'] = {},
): WirePod {
  return barePod({ metadata: { name, namespace: 'd', uid: `u-${name}`, labels, ...more }, spec });
}

/** A node, and the pods on it. */
export function nodeOf(name: string, labels: Labels, pods: readonly WirePod[] = [], spec: WireNode['spec'] = {}): NodeInfo {
  return createNodeInfo(
    { metadata: { name, labels }, spec },
    pods.map((pod) => createPodInfo(pod)),
  );
}

interface World {
  readonly nodes: readonly NodeInfo[];
  readonly args?: unknown;
  readonly namespaces?: Readonly<Record<string, Labels>>;
  readonly services?: readonly object[];
  readonly controllers?: Partial<Record<'replicationControllers' | 'replicaSets' | 'statefulSets', readonly object[]>>;
}

/** One plugin among these nodes, and one pod's cycle. */
export class Trial {
  readonly plugin: Plugin;
  readonly snapshot: Snapshot;
  readonly state = new CycleState();
  readonly pod: PodInfo;
  readonly skipsFilter: boolean;

  constructor(factory: PluginFactory, pod: WirePod, { nodes, args, namespaces = {}, services = [], controllers = {} }: World) {
    this.snapshot = nodeSnapshotOf(nodes);
    const labelled = Object.entries(namespaces).map(([name, labels]) => ({ metadata: { name, labels } }));
    const known = clusterObjects({ namespaces: labelled, services, ...controllers });
    const handle: Partial<PluginHandle> = { snapshot: () => this.snapshot, objects: (resource) => known.lister(resource) };
    this.plugin = factory(args, handle as PluginHandle);
    this.pod = createPodInfo(pod);
    this.skipsFilter = this.plugin.preFilter?.(this.state, this.pod, this.snapshot) === 'skip';
  }

  /** The reason of each node that does not fit. */
  rejected(state: CycleState = this.state): Record<string, string> {
    const reasons = this.snapshot.nodes.map((node) => {
      const rejection = this.plugin.filter?.(state, this.pod, node);
      return [node.name, rejection && `${rejection.code}: ${rejection.reasons.join()}`];
    });
    return Object.fromEntries(reasons.filter(([, reason]) => reason !== undefined));
  }

  /** `[score, normalised score]` of each node, or `skip`. */
  scores(): Record<string, [number, number]> | 'skip' {
    const { nodes } = this.snapshot;
    if (this.plugin.preScore?.(this.state, this.pod, nodes) === 'skip') return 'skip';
    const raw = nodes.map((node) => this.plugin.score?.(this.state, this.pod, node) ?? Number.NaN);
    const scores = [...raw];
    this.plugin.normalizeScores?.(this.state, this.pod, scores, nodes);
    return Object.fromEntries(nodes.map(({ name }, i) => [name, [raw[i] ?? Number.NaN, scores[i] ?? Number.NaN]]));
  }

  /** A state of its own, with one pod more (`addPod`) or less on the node. */
  after(change: 'addPod' | 'removePod', pod: WirePod, nodeName: string, from: CycleState = this.state): CycleState {
    const state = from.clone();
    const node = this.snapshot.get(nodeName);
    if (node === undefined) throw new Error(`no node ${nodeName}`);
    this.plugin[change]?.(state, this.pod, createPodInfo(pod), node);
    return state;
  }

  /** What the plugin's hint says of a change. */
  hint(resource: 'Pod' | 'Node', before: object | undefined, after: object | undefined): string | undefined {
    const event = this.plugin.eventsToRegister?.().find((each) => each.resource === resource);
    return event?.hint?.(this.pod.pod, before as Record<string, unknown>, after as Record<string, unknown>);
  }
}
