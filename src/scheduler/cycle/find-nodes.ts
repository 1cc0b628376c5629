// Behaviour of pkg/scheduler/schedule_one.go findNodesThatFitPod, v1.36.3.
import type { CycleState } from '../framework/cycle-state.ts';
import type { Diagnosis } from '../framework/fit-error.ts';
import type { Framework } from '../framework/framework.ts';
import type { PluginRejection } from '../framework/status.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import { nodesToFind } from './nodes-to-find.ts';

/** The nodes that fit, and why the others that were looked at do not. */
export interface FoundNodes {
  readonly feasible: readonly NodeInfo[];
  readonly diagnosis: Diagnosis;
  /** How many nodes further the next search begins. */
  readonly advance: number;
}

/**
 * The nodes on which the pod fits, in the order in which they were found. The search begins at the node at `startIndex`, goes
 * round, and ends when enough nodes are found. A pod that was promised a node is tried there first, and elsewhere only where it
 * does not fit. Throws PluginError.
 */
export function findNodesThatFit(framework: Framework, state: CycleState, pod: PodInfo, startIndex: number): FoundNodes {
  const snapshot = framework.snapshot();
  const search = new NodeSearch(framework, state, pod);
  const { rejection, nodeNames, selectors } = framework.preFilter(state, pod);
  for (const plugin of selectors) search.rejectors.add(plugin);
  if (rejection !== undefined) {
    search.countRejector(rejection);
    return { feasible: [], diagnosis: search.diagnosis(rejection, true), advance: 0 };
  }
  const promised = snapshot.get(pod.pod.status?.nominatedNodeName ?? '');
  if (promised !== undefined) {
    const feasible = search.tryPromised(promised);
    if (feasible.length > 0) return { feasible, diagnosis: search.diagnosis(undefined, false), advance: 0 };
  }
  // a name that no node has is passed over
  const nodes = nodeNames === undefined ? snapshot.nodes : [...nodeNames].flatMap((name) => snapshot.get(name) ?? []);
  // as upstream, the plugin that has just rejected the promised node is named, too
  const rest = nodeNames === undefined ? undefined : ruledOut([...search.rejectors]);
  const feasible = search.run(nodes, startIndex);
  const diagnosis = search.diagnosis(rest, false);
  return { feasible, diagnosis, advance: feasible.length + diagnosis.failures.size };
}

function ruledOut(plugins: readonly string[]): PluginRejection {
  const reason = `node(s) didn't satisfy plugin(s) [${plugins.toSorted().join(' ')}]`;
  return { plugin: '', code: 'UnschedulableAndUnresolvable', reasons: [reason] };
}

/** Looks at nodes, and keeps why they do not fit. */
class NodeSearch {
  readonly rejectors = new Set<string>();
  readonly #pending = new Set<string>();
  readonly #failures = new Map<string, PluginRejection>();
  readonly #framework: Framework;
  readonly #state: CycleState;
  readonly #pod: PodInfo;

  constructor(framework: Framework, state: CycleState, pod: PodInfo) {
    this.#framework = framework;
    this.#state = state;
    this.#pod = pod;
  }

  /** A node that cannot be judged now is judged again with the others, whose error counts. */
  tryPromised(node: NodeInfo): readonly NodeInfo[] {
    try {
      return this.run([node], 0);
    } catch {
      return [];
    }
  }

  run(nodes: readonly NodeInfo[], startIndex: number): NodeInfo[] {
    const { filters, scores, profile } = this.#framework;
    const enough = scores.hasScorers
      ? nodesToFind(nodes.length, profile.percentageOfNodesToScore ?? 0)
      : Math.min(1, nodes.length);
    const feasible: NodeInfo[] = [];
    for (let step = 0; step < nodes.length && feasible.length < enough; step += 1) {
      const node = nodes[(startIndex + step) % nodes.length] as NodeInfo;
      const rejection = filters.filterWithNominated(this.#state, this.#pod, node);
      if (rejection === undefined) feasible.push(node);
      else this.#reject(node.name, rejection);
    }
    return feasible;
  }

  countRejector({ plugin, code, parts }: PluginRejection): void {
    if (plugin !== '') this.rejectors.add(plugin);
    if (plugin !== '' && code === 'Pending') this.#pending.add(plugin);
    for (const part of parts ?? []) if (part.plugin !== plugin) this.countRejector(part);
  }

  diagnosis(rest: PluginRejection | undefined, isRejectedAsSuch: boolean): Diagnosis {
    const { length: nodes } = this.#framework.snapshot().nodes;
    return { nodes, failures: this.#failures, rest, isRejectedAsSuch, rejectors: this.rejectors, pending: this.#pending };
  }

  #reject(nodeName: string, rejection: PluginRejection): void {
    this.#failures.set(nodeName, rejection);
    this.countRejector(rejection);
  }
}
