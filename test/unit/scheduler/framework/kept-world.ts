import { Random } from '../../../../examples/virtual-node/random.ts';
import type { WireNode } from '../../../../src/api/json/types.ts';
import { resources } from '../../../../src/client/resources/api-resource.ts';
import { Nominator } from '../../../../src/scheduler/cache/nominator.ts';
import { SchedulerCache } from '../../../../src/scheduler/cache/scheduler-cache.ts';
import { findNodesThatFit, prioritizeNodes, SchedulingAlgorithm } from '../../../../src/scheduler/cycle/algorithm.ts';
import type { ClusterObjects } from '../../../../src/scheduler/framework/cluster-objects.ts';
import { CycleState } from '../../../../src/scheduler/framework/cycle-state.ts';
import { FitError } from '../../../../src/scheduler/framework/fit-error.ts';
import type { Framework } from '../../../../src/scheduler/framework/framework.ts';
import type { PluginFactory } from '../../../../src/scheduler/framework/plugin.ts';
import { givenPod } from '../../../../src/scheduler/nodes/given-objects.ts';
import type { Snapshot } from '../../../../src/scheduler/nodes/node-info.ts';
import { createPodInfo, type PodInfo } from '../../../../src/scheduler/nodes/pod-info.ts';
import { inTreePlugins } from '../../../../src/scheduler/profile/plugin-registry.ts';
import { createFrameworks } from '../../../../src/scheduler/profile/profile-plugins.ts';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.ts';
import { clusterObjects } from '../../../support/cluster-objects.ts';
import { frameworkContext } from '../../../support/framework-context.ts';
import { type BareParts, barePod } from '../../../support/pods.ts';
import { templates } from './pod-templates.ts';

/** Has nothing to say, and no signature: nothing is kept where it is. */
const noSignature: PluginFactory = () => ({ name: 'NoSignature', filter: () => undefined });

/** A plugin of a user that answers by the pod and the node alone. */
const byLabel: PluginFactory = () => ({
  name: 'ByLabel',
  signature: ({ pod }) => pod.metadata?.labels?.parity ?? 'none',
  filter: (_state, { pod }, { name }) =>
    pod.metadata?.labels?.parity === 'even' && Number(name.slice(1)) % 2 === 1
      ? { code: 'Unschedulable', reasons: [`${name} is odd`] }
      : undefined,
  score: (_state, _pod, { name }) => Number(name.slice(1)) % 7,
});

/** One that looks at other nodes for some pods, and says so. */
const byNodes: PluginFactory = (_args, handle) => ({
  name: 'ByNodes',
  signature: ({ pod }) => (pod.metadata?.labels?.fickle === 'yes' ? undefined : ''),
  filter: (_state, { pod }, { name }) =>
    pod.metadata?.labels?.fickle === 'yes' && (handle.snapshot().nodes[0]?.pods.length ?? 0) % 2 === Number(name.slice(1)) % 2
      ? { code: 'UnschedulableAndUnresolvable', reasons: ['not now'] }
      : undefined,
});

interface Scheduling {
  readonly framework: Framework;
  readonly algorithm: SchedulingAlgorithm;
}

/** What a scheduler sees of a cluster. */
interface Seen {
  readonly snapshot: Snapshot;
  readonly nominated: Nominator;
  readonly objects: ClusterObjects;
}

/** How large an image is, whichever node has it. */
const imageSizes = { 'a:1': 300_000_000, 'b:1': 700_000_000, 'c:1': 500_000_000 };

/** A cluster that changes by chance, and schedulers for it: one that keeps what plugins say, and one that does not. */
export class KeptWorld {
  readonly kept: Scheduling;
  readonly plain: Scheduling;
  readonly #seed: number;
  readonly #random: Random;
  readonly #cache = new SchedulerCache({ clock: new FakeClock() });
  readonly #nominator = new Nominator();
  readonly #objects = clusterObjects({
    services: [{ spec: { selector: { app: 'served' } } }],
    namespaces: [{ metadata: { name: 'd', labels: { team: 'a' } } }, { metadata: { name: 'e', labels: { team: 'b' } } }],
  });
  readonly #placed: PodInfo[] = [];
  #nodes: WireNode[] = [];
  #made = 0;

  /** So many pods are on nodes to begin with. */
  constructor(seed: number, nodes: number, pods = 0) {
    this.#seed = seed;
    this.#random = new Random(seed);
    const seen = { snapshot: this.#cache.updateSnapshot(), nominated: this.#nominator, objects: this.#objects };
    this.kept = this.#schedulingBy(seen, []);
    this.plain = this.#schedulingBy(seen, ['NoSignature']);
    for (let index = 0; index < nodes; index += 1) this.#setNode(this.#newNode(`n${index}`));
    for (let index = 0; index < pods; index += 1) {
      const pod = this.nextPod();
      // as upstream, a port that two pods of a node have is free once one of them is gone
      if (pod.hostPorts.length === 0) this.place(pod, `n${this.#int(nodes)}`);
    }
  }

  /** A scheduler that sees the cluster as it is now for the first time. It begins to look where the others do. */
  fresh(): Scheduling {
    const cache = new SchedulerCache({ clock: new FakeClock() });
    const nominated = new Nominator();
    for (const { name } of this.#cache.updateSnapshot().nodes) cache.addNode(this.#cache.nodeOf(name) as WireNode);
    for (const pod of this.#placed) cache.assumePod(pod, this.#cache.nodeNameOf(pod.uid) ?? '');
    for (const name of this.#nominator.nodeNames()) for (const pod of this.#nominator.onNode(name)) nominated.nominate(pod, name);
    const services = this.#objects.lister(resources.services).list();
    const namespaces = this.#objects.lister(resources.namespaces).list();
    const objects = clusterObjects({ services, namespaces });
    const scheduling = this.#schedulingBy({ snapshot: cache.updateSnapshot(), nominated, objects }, []);
    const { startIndex } = this.kept.algorithm;
    scheduling.algorithm.searched(startIndex, startIndex + 1);
    return scheduling;
  }

  /** A pod that was never seen; most are made after a template. */
  nextPod(): PodInfo {
    this.#made += 1;
    const template = this.#pick(templates) as BareParts;
    const name = `p${this.#made}`;
    const labels = { ...template.metadata?.labels, ...(this.#random.chance(0.1) && { parity: 'even' }) };
    const metadata = { ...template.metadata, labels, name, namespace: this.#random.chance(0.8) ? 'd' : 'e', uid: name };
    const spec: NonNullable<BareParts['spec']> = { priority: this.#int(3), ...template.spec };
    return createPodInfo(givenPod(barePod({ metadata, spec })));
  }

  /** What both say of the pod: the nodes that fit with their totals, all that was said against the others, and the choice. */
  said(pod: PodInfo, { framework, algorithm }: Scheduling): unknown {
    const outcome = (ask: () => unknown): unknown => {
      try {
        return ask();
      } catch (error) {
        if (!(error instanceof FitError)) return String(error);
        const { failures, rejectors, pending, rest } = error.diagnosis;
        return { message: error.message, failures: [...failures], rejectors: [...rejectors], pending: [...pending], rest };
      }
    };
    const found = outcome(() => {
      const state = new CycleState();
      const { feasible, places, diagnosis } = findNodesThatFit(framework, state, pod, algorithm.startIndex);
      const against = [...diagnosis.failures];
      const totals = outcome(() =>
        places === undefined
          ? prioritizeNodes(framework, state, pod, feasible).totals
          : framework.kept.totals(state, pod, framework.snapshot(), feasible, places),
      );
      return { nodes: feasible.map(({ name }) => name), against, totals, rejectors: [...diagnosis.rejectors] };
    });
    return { found, chosen: outcome(() => algorithm.schedulePod(framework, pod)), next: algorithm.startIndex };
  }

  place(pod: PodInfo, nodeName: string): void {
    this.#cache.assumePod(pod, nodeName);
    this.#placed.push(pod);
  }

  begin(): void {
    this.#cache.updateSnapshot();
  }

  /** Something happens in the cluster, or to its pods alone. */
  change(what: 'anything' | 'pods' = 'anything'): void {
    const pod = this.#pick(this.#placed);
    const node = this.#pick(this.#nodes);
    const dice = this.#random.next() * (what === 'pods' ? 0.58 : 1);
    if (dice < 0.3 && pod !== undefined) this.#removePod(pod);
    else if (dice < 0.4 && pod !== undefined) this.#nominator.nominate(pod, node?.metadata?.name ?? '');
    else if (dice < 0.5 && pod !== undefined) this.#nominator.delete(pod.uid);
    else if (dice < 0.58 && pod !== undefined) this.#changePod(pod);
    else if (dice < 0.6) this.#setNode(this.#newNode(`n${this.#nodes.length + 1000 * this.#int(3)}`));
    else if (dice < 0.63) this.#changeNamespace();
    else if (node === undefined) return;
    else if (dice < 0.65) this.#removeNode(node);
    else if (dice < 0.72) this.#setNode(this.#newNode(node.metadata?.name ?? ''));
    else if (dice < 0.78) this.#changeNode(node);
  }

  #schedulingBy({ snapshot, nominated, objects }: Seen, more: readonly string[]): Scheduling {
    const context = frameworkContext({
      snapshot: () => snapshot,
      nominated,
      // all of them choose alike for one pod
      random: () => new Random(this.#seed, this.#made).next(),
      objects,
    });
    const registry = { ...inTreePlugins(), NoSignature: noSignature, ByLabel: byLabel, ByNodes: byNodes };
    const enabled = ['ByLabel', 'ByNodes', ...more].map((name) => ({ name }));
    const [framework] = [...createFrameworks(context, [{ plugins: { multiPoint: { enabled } } }], registry).values()];
    return { framework: framework as Framework, algorithm: new SchedulingAlgorithm() };
  }

  #newNode(name: string): WireNode {
    const random = this.#random;
    const labels = {
      ...(random.chance(0.95) && { 'kubernetes.io/hostname': name }),
      ...(random.chance(0.9) && { 'topology.kubernetes.io/zone': random.chance(0.05) ? '' : `z${this.#int(3)}` }),
      ...(random.chance(0.8) && { rack: `r${this.#int(9)}` }),
      disk: this.#pick(['ssd', 'hdd']) as string,
    };
    const effect = this.#pick(['NoSchedule', 'PreferNoSchedule', 'NoExecute']) as string;
    const images = Object.entries(imageSizes).filter(() => random.chance(0.3));
    const spec = {
      ...(random.chance(0.1) && { unschedulable: true }),
      ...(random.chance(0.2) && { taints: [{ key: 'dedicated', value: 'x', effect }] }),
    };
    const status = {
      allocatable: { cpu: `${1 + this.#int(4)}`, memory: '4Gi', pods: `${3 + this.#int(8)}` },
      images: images.map(([name, sizeBytes]) => ({ names: [name], sizeBytes })),
    };
    return { metadata: { name, labels }, spec, status } as WireNode;
  }

  #setNode(node: WireNode): void {
    this.#nodes = [...this.#nodes.filter(({ metadata }) => metadata?.name !== node.metadata?.name), node];
    this.#cache.addNode(node);
  }

  #removeNode(node: WireNode): void {
    if (this.#nodes.length < 3) return;
    this.#nodes = this.#nodes.filter((other) => other !== node);
    this.#cache.removeNode(node);
  }

  /** Its labels alone, or its taints, or its images. */
  #changeNode(node: WireNode): void {
    const { metadata, spec, status } = this.#newNode(node.metadata?.name ?? '');
    this.#setNode({ ...node, ...(this.#pick([{ metadata }, { spec }, { status }]) as object) });
  }

  /** Another version of a pod on a node: with another label, or one that is being deleted. */
  #changePod(pod: PodInfo): void {
    const { metadata, spec } = pod.pod;
    const nodeName = this.#cache.nodeNameOf(pod.uid) ?? '';
    const labels = { ...metadata?.labels, app: this.#pick(['even', 'apart', 'near', 'liked']) as string };
    const isDeleted = this.#random.chance(0.4);
    const after = createPodInfo(
      barePod({
        metadata: {
          ...metadata,
          uid: pod.uid,
          labels,
          ...(isDeleted && { deletionTimestamp: '2000-01-01T00:00:00Z' }),
        } as object,
        spec: { ...spec, nodeName } as object,
      }),
    );
    if (this.#cache.isAssumed(pod.uid)) this.#cache.addPod(after);
    else this.#cache.updatePod(pod, after);
    this.#placed[this.#placed.indexOf(pod)] = after;
  }

  #changeNamespace(): void {
    const name = this.#pick(['d', 'e']) as string;
    const labels = { team: this.#pick(['a', 'b']) as string };
    if (this.#random.chance(0.2)) this.#objects.delete(resources.namespaces, undefined, name);
    else this.#objects.set(resources.namespaces, { metadata: { name, labels } });
  }

  #removePod(pod: PodInfo): void {
    this.#placed.splice(this.#placed.indexOf(pod), 1);
    this.#nominator.delete(pod.uid);
    this.#cache.removePod(pod);
  }

  #pick<T>(list: readonly T[]): T | undefined {
    return this.#random.pick(list);
  }

  #int(below: number): number {
    return Math.floor(this.#random.next() * below);
  }
}
