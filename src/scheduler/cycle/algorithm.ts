import { CycleState } from '../framework/cycle-state.ts';
import { type Diagnosis, FitError } from '../framework/fit-error.ts';
import type { Framework } from '../framework/framework.ts';
import type { PlaceScan } from '../framework/place-scan.ts';
import type { PluginRejection } from '../framework/plugin.ts';
import type { NodeScores } from '../framework/plugin-runner.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';

/** Where a pod goes. */
export interface ScheduleResult {
  readonly nodeName: string;
  /** How many nodes were looked at. */
  readonly evaluatedNodes: number;
  /** On how many of them it fits. */
  readonly feasibleNodes: number;
}

/** There is no node at all. */
export class NoNodesError extends Error {
  constructor() {
    super('no nodes available to schedule pods');
    this.name = 'NoNodesError';
  }
}

/**
 * Chooses a node for one pod after another. Each search for nodes begins where the one before has ended, so that all nodes
 * have the same chance. Behaviour of pkg/scheduler/schedule_one.go schedulePod, v1.36.3.
 */
export class SchedulingAlgorithm {
  #nextStartIndex = 0;

  /**
   * Finds the nodes that fit, scores them and picks one of the best. Nothing is changed but what the plugins keep in `state`.
   * Throws FitError, NoNodesError or PluginError.
   */
  schedulePod(framework: Framework, pod: PodInfo, state: CycleState = new CycleState()): ScheduleResult {
    const { length: nodes } = framework.snapshot().nodes;
    if (nodes === 0) throw new NoNodesError();
    const { feasible, places, diagnosis, advance, rejectedNodes } = findNodesThatFit(framework, state, pod, this.#nextStartIndex);
    const evaluatedNodes = feasible.length + rejectedNodes;
    this.searched(advance, nodes);
    const [first] = feasible;
    if (first === undefined) throw new FitError(pod.pod, diagnosis);
    const { length: feasibleNodes } = feasible;
    if (feasibleNodes === 1) return { nodeName: first.name, evaluatedNodes, feasibleNodes };
    const totals =
      places === undefined || !framework.scores.hasScorers
        ? prioritizeNodes(framework, state, pod, feasible).totals
        : framework.kept.totals(state, pod, framework.snapshot(), feasible, places);
    const chosen = feasible[selectHost(totals, () => framework.random())] ?? first;
    return { nodeName: chosen.name, evaluatedNodes, feasibleNodes };
  }

  /** Where the next search for nodes begins. */
  get startIndex(): number {
    return this.#nextStartIndex;
  }

  /** A search has gone so many nodes further, of so many in all. */
  searched(advance: number, nodes: number): void {
    this.#nextStartIndex = (this.#nextStartIndex + advance) % nodes;
  }
}

// Behaviour of pkg/scheduler/schedule_one.go findNodesThatFitPod, v1.36.3.

/** The nodes that fit, and why the others that were looked at do not. */
export interface FoundNodes {
  readonly feasible: readonly NodeInfo[];
  /** Their places in the snapshot, where answers of plugins are kept. */
  readonly places?: readonly number[] | undefined;
  readonly diagnosis: Diagnosis;
  /** How many nodes were looked at that do not fit. */
  readonly rejectedNodes: number;
  /** How many nodes further the next search begins. */
  readonly advance: number;
}

/**
 * The nodes on which the pod fits, in the order in which they were found. The search begins at the node at `startIndex`, goes
 * round, and ends when enough nodes are found. A pod that was promised a node is tried there first, and elsewhere only where it
 * does not fit. Throws PluginError.
 */
export function findNodesThatFit(framework: Framework, state: CycleState, pod: PodInfo, startIndex: number): FoundNodes {
  const search = new NodeSearch(framework, state, pod);
  const plan = search.begin();
  if ('rejected' in plan) return plan.rejected;
  if (plan.promised !== undefined) {
    const feasible = search.tryPromised(plan.promised);
    if (feasible.length > 0) return search.foundPromised(feasible);
  }
  const rest = search.restOf(plan);
  const feasible = search.run(plan.nodes, startIndex);
  const diagnosis = search.diagnosis(rest, false);
  const { places, rejectedNodes } = search;
  return { feasible, places, diagnosis, rejectedNodes, advance: feasible.length + rejectedNodes };
}

/** Which nodes are to be looked at; or that none is. */
type SearchPlan = { readonly rejected: FoundNodes } | PlannedNodes;

interface PlannedNodes {
  /** The node that the pod was promised. */
  readonly promised: NodeInfo | undefined;
  readonly nodes: readonly NodeInfo[];
  /** True where plugins have left out nodes by name. */
  readonly isNarrowed: boolean;
}

function ruledOut(plugins: readonly string[]): PluginRejection {
  const reason = `node(s) didn't satisfy plugin(s) [${plugins.toSorted().join(' ')}]`;
  return { plugin: '', code: 'UnschedulableAndUnresolvable', reasons: [reason] };
}

/** Looks at nodes, and keeps why they do not fit. */
export class NodeSearch {
  readonly rejectors = new Set<string>();
  readonly #pending = new Set<string>();
  readonly #failures = new Map<string, PluginRejection>();
  /** Those of one run, not yet in the map: where a pod finds a node nobody asks for them. */
  readonly #rejected: NodeInfo[] = [];
  readonly #rejections: PluginRejection[] = [];
  readonly #framework: Framework;
  readonly #state: CycleState;
  readonly #pod: PodInfo;
  #places: readonly number[] | undefined;
  /** The run whose rejections nobody has asked for yet. */
  #scanned: PlaceScan | undefined;

  constructor(framework: Framework, state: CycleState, pod: PodInfo) {
    this.#framework = framework;
    this.#state = state;
    this.#pod = pod;
  }

  /** How many nodes were looked at that do not fit. */
  get rejectedNodes(): number {
    if (this.#scanned !== undefined) return this.#scanned.rejected;
    return this.#failures.size === 0 ? this.#rejected.length : this.#allFailures().size;
  }

  /** The places of the nodes that the last run found, where answers of plugins are kept. */
  get places(): readonly number[] | undefined {
    return this.#places;
  }

  /** Asks preFilter. */
  begin(): SearchPlan {
    const snapshot = this.#framework.snapshot();
    const { rejection, nodeNames, selectors } = this.#framework.preFilter(this.#state, this.#pod);
    for (const plugin of selectors) this.rejectors.add(plugin);
    if (rejection !== undefined) {
      this.countRejector(rejection);
      return { rejected: { feasible: [], diagnosis: this.diagnosis(rejection, true), rejectedNodes: 0, advance: 0 } };
    }
    return {
      promised: snapshot.get(this.#pod.pod.status?.nominatedNodeName ?? ''),
      // a name that no node has is passed over
      nodes: nodeNames === undefined ? snapshot.nodes : [...nodeNames].flatMap((name) => snapshot.get(name) ?? []),
      isNarrowed: nodeNames !== undefined,
    };
  }

  /** Why the nodes are left out that are not looked at. As upstream, the plugin that has just rejected the promised node is named, too. */
  restOf({ isNarrowed }: PlannedNodes): PluginRejection | undefined {
    return isNarrowed ? ruledOut([...this.rejectors]) : undefined;
  }

  /** A node that cannot be judged now is judged again with the others, whose error counts. */
  tryPromised(node: NodeInfo): readonly NodeInfo[] {
    try {
      return this.run([node], 0);
    } catch {
      return [];
    } finally {
      // a node that is looked at again counts once
      this.#allFailures();
    }
  }

  foundPromised(feasible: readonly NodeInfo[]): FoundNodes {
    return { feasible, diagnosis: this.diagnosis(undefined, false), rejectedNodes: this.rejectedNodes, advance: 0 };
  }

  run(nodes: readonly NodeInfo[], startIndex: number): NodeInfo[] {
    const { filters, kept, scores, profile, extenders } = this.#framework;
    const enough =
      scores.hasScorers || extenders.looksAtNodes
        ? nodesToFind(nodes.length, profile.percentageOfNodesToScore ?? 0)
        : Math.min(1, nodes.length);
    const snapshot = this.#framework.snapshot();
    const verdicts = nodes === snapshot.nodes ? kept.verdicts(this.#state, this.#pod, snapshot) : undefined;
    if (verdicts?.scan !== undefined && this.#failures.size === 0 && !extenders.looksAtNodes) {
      return this.#scan(verdicts.scan, nodes, startIndex, enough);
    }
    const verdict = verdicts?.verdict;
    const feasible: NodeInfo[] = [];
    const places: number[] = [];
    for (let step = 0; step < nodes.length && feasible.length < enough; step += 1) {
      const place = (startIndex + step) % nodes.length;
      const node = nodes[place] as NodeInfo;
      const rejection = verdict === undefined ? filters.filterWithNominated(this.#state, this.#pod, node) : verdict(node, place);
      if (rejection !== undefined) {
        this.#reject(node, rejection);
        continue;
      }
      feasible.push(node);
      places.push(place);
    }
    this.#places = verdict === undefined ? undefined : places;
    return feasible;
  }

  /** Where a pod finds a node, nobody asks why it does not fit on others. */
  #scan(scan: PlaceScan, nodes: readonly NodeInfo[], startIndex: number, enough: number): NodeInfo[] {
    const places = scan.run(startIndex % nodes.length, enough);
    this.#places = places;
    this.#scanned = scan;
    if (places.length === 0) this.#tellRejections();
    const feasible = new Array<NodeInfo>(places.length);
    for (let index = 0; index < places.length; index += 1) feasible[index] = nodes[places[index] as number] as NodeInfo;
    return feasible;
  }

  #tellRejections(): void {
    const scan = this.#scanned;
    this.#scanned = undefined;
    if (scan !== undefined) for (const [node, rejection] of scan.rejections()) this.#reject(node, rejection);
  }

  /** Keeps what something other than a plugin has against nodes. */
  keep(failures: ReadonlyMap<string, PluginRejection>): void {
    const all = this.#allFailures();
    for (const [name, rejection] of failures) all.set(name, rejection);
  }

  countRejector({ plugin, code, parts }: PluginRejection): void {
    if (plugin !== '') this.rejectors.add(plugin);
    if (plugin !== '' && code === 'Pending') this.#pending.add(plugin);
    for (const part of parts ?? []) if (part.plugin !== plugin) this.countRejector(part);
  }

  diagnosis(rest: PluginRejection | undefined, isRejectedAsSuch: boolean): Diagnosis {
    const { length: nodes } = this.#framework.snapshot().nodes;
    const failures = (): ReadonlyMap<string, PluginRejection> => this.#allFailures();
    const known = <Known>(of: Known): Known => {
      this.#tellRejections();
      return of;
    };
    const [rejectors, pending] = [this.rejectors, this.#pending];
    return {
      nodes,
      get failures() {
        return failures();
      },
      rest,
      isRejectedAsSuch,
      get rejectors() {
        return known(rejectors);
      },
      get pending() {
        return known(pending);
      },
    };
  }

  #reject(node: NodeInfo, rejection: PluginRejection): void {
    // many nodes have one rejection
    if (rejection !== this.#rejections.at(-1)) this.countRejector(rejection);
    this.#rejected.push(node);
    this.#rejections.push(rejection);
  }

  /** By the names of the nodes. */
  #allFailures(): Map<string, PluginRejection> {
    this.#tellRejections();
    for (const [index, { name }] of this.#rejected.entries()) {
      this.#failures.set(name, this.#rejections[index] as PluginRejection);
    }
    this.#rejected.length = 0;
    this.#rejections.length = 0;
    return this.#failures;
  }
}

// Behaviour of pkg/scheduler/schedule_one.go numFeasibleNodesToFind, v1.36.3.

/** So many nodes are always looked for. */
const leastNodes = 100;
const leastPercentage = 5;
const mostPercentage = 50;

/**
 * How many feasible nodes are enough, of `nodes` in all. `percentage` 0: from 50 per cent down to 5, one less for every 125
 * nodes.
 */
export function nodesToFind(nodes: number, percentage: number): number {
  if (nodes < leastNodes) return nodes;
  const adaptive = Math.max(leastPercentage, mostPercentage - Math.trunc(nodes / 125));
  const asked = Math.trunc((nodes * (percentage === 0 ? adaptive : percentage)) / 100);
  return Math.min(nodes, Math.max(leastNodes, asked));
}

// Behaviour of pkg/scheduler/schedule_one.go prioritizeNodes, v1.36.3.

/**
 * What each node is worth to the pod: the plugins' scores times their weights, added up; 1 for every node where no plugin
 * scores. Throws PluginError.
 */
export function prioritizeNodes(framework: Framework, state: CycleState, pod: PodInfo, nodes: readonly NodeInfo[]): NodeScores {
  const { scores } = framework;
  if (!scores.hasScorers) return { totals: new Array<number>(nodes.length).fill(1), plugins: [] };
  scores.preScore(state, pod, nodes);
  return scores.score(state, pod, nodes);
}

/**
 * The index of the highest total; of several equal ones `random` (from 0 up to, but not including, 1) picks one. -1 where there is
 * none.
 */
export function selectHost(totals: readonly number[], random: () => number): number {
  const best = bestHosts(totals);
  const [first = -1] = best;
  return best.length < 2 ? first : (best[Math.trunc(random() * best.length)] ?? first);
}

/** The indexes of all nodes with the highest total. */
export function bestHosts(totals: readonly number[]): number[] {
  let best: number[] = [];
  let highest = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < totals.length; index += 1) {
    const total = totals[index] as number;
    if (total > highest) {
      highest = total;
      best = [index];
    } else if (total === highest) {
      best.push(index);
    }
  }
  return best;
}
