import type { NodeInfo, Snapshot } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { CycleState } from './cycle-state.ts';
import {
  maxNodeScore,
  type NominatedPods,
  type PluginAt,
  type PluginRejection,
  type ProfilePlugins,
  pluginsAt,
  type RejectionCode,
} from './plugin.ts';
import { asRejection, PluginError, pluginFailure, wrongAnswer } from './plugin-error.ts';

/** What preFilter of all plugins came to. */
export interface PreFilterOutcome {
  /** Why the pod fits on no node at all. */
  readonly rejection?: PluginRejection | undefined;
  /** The nodes that are left to look at; undefined: all of them. */
  readonly nodeNames?: ReadonlySet<string> | undefined;
  /** The plugins that left nodes out. */
  readonly selectors: readonly string[];
}

/** Runs preFilter, addPod and removePod. Behaviour of pkg/scheduler/framework/runtime/framework.go, v1.36.3. */
class PreFilterRunner {
  readonly #plugins: readonly PluginAt<'preFilter'>[];

  constructor(profile: ProfilePlugins) {
    this.#plugins = pluginsAt(profile, 'preFilter');
  }

  /**
   * Asks every plugin. A rejection that no end of other pods would change ends it at once; after any other one the rest is
   * still asked, because preemption needs what they keep.
   */
  run(state: CycleState, pod: PodInfo, snapshot: Snapshot): PreFilterOutcome {
    let rejection: PluginRejection | undefined;
    let nodeNames: ReadonlySet<string> | undefined;
    const selectors: string[] = [];
    for (const plugin of this.#plugins) {
      const answer = preFilter(plugin, state, pod, snapshot);
      if (answer === undefined) continue;
      if (answer === 'skip') {
        state.skippedFilters.add(plugin.name);
        continue;
      }
      const names = nodeNamesOf(answer);
      if (names === undefined) {
        rejection = asRejection(plugin.name, 'preFilter', answer);
        if (rejection.code !== 'Unschedulable') return { rejection, selectors: [] };
        continue;
      }
      selectors.push(plugin.name);
      const before = nodeNames;
      const left: ReadonlySet<string> = before === undefined ? names : new Set([...names].filter((name) => before.has(name)));
      nodeNames = left;
      if (left.size === 0) return { rejection: noNodeLeft(selectors), selectors };
    }
    return { rejection, nodeNames, selectors };
  }

  addPod(state: CycleState, toSchedule: PodInfo, pod: PodInfo, node: NodeInfo): void {
    this.#tell('addPod', state, toSchedule, pod, node);
  }

  removePod(state: CycleState, toSchedule: PodInfo, pod: PodInfo, node: NodeInfo): void {
    this.#tell('removePod', state, toSchedule, pod, node);
  }

  #tell(what: 'addPod' | 'removePod', state: CycleState, toSchedule: PodInfo, pod: PodInfo, node: NodeInfo): void {
    for (const plugin of this.#plugins) {
      if (plugin[what] === undefined || state.skippedFilters.has(plugin.name)) continue;
      let answer: unknown;
      try {
        answer = plugin[what](state, toSchedule, pod, node);
      } catch (error) {
        throw pluginFailure(plugin.name, 'preFilter', error);
      }
      if (answer !== undefined) throw wrongAnswer(plugin.name, 'preFilter', `nothing from ${what}`, answer);
    }
  }
}

function preFilter(plugin: PluginAt<'preFilter'>, state: CycleState, pod: PodInfo, snapshot: Snapshot): unknown {
  try {
    return plugin.preFilter(state, pod, snapshot);
  } catch (error) {
    throw pluginFailure(plugin.name, 'preFilter', error);
  }
}

function nodeNamesOf(answer: unknown): ReadonlySet<string> | undefined {
  const isAnswer = typeof answer === 'object' && answer !== null && 'nodeNames' in answer;
  return isAnswer && answer.nodeNames instanceof Set ? answer.nodeNames : undefined;
}

function noNodeLeft(selectors: readonly string[]): PluginRejection {
  const [only] = selectors;
  const those = selectors.length === 1 ? `plugin ${only}` : `plugin(s) [${selectors.toSorted().join(' ')}] simultaneously`;
  return { plugin: '', code: 'UnschedulableAndUnresolvable', reasons: [`node(s) didn't satisfy ${those}`] };
}

/** Asks the plugins of a profile which nodes fit. Behaviour of pkg/scheduler/framework/runtime/framework.go, v1.36.3. */
export class FilterRunner {
  readonly #preFilters: PreFilterRunner;
  readonly #filters: readonly PluginAt<'filter'>[];
  readonly #checkAll: boolean;
  readonly #nominated: NominatedPods;
  #skipped: ReadonlySet<string> | undefined;
  #skippedSize = 0;
  #active: readonly PluginAt<'filter'>[] = [];

  constructor(profile: ProfilePlugins, nominated: NominatedPods) {
    this.#preFilters = new PreFilterRunner(profile);
    this.#filters = pluginsAt(profile, 'filter');
    this.#checkAll = profile.checkAllFilters ?? false;
    this.#nominated = nominated;
  }

  preFilter(state: CycleState, pod: PodInfo, snapshot: Snapshot): PreFilterOutcome {
    return this.#preFilters.run(state, pod, snapshot);
  }

  addPod(state: CycleState, toSchedule: PodInfo, pod: PodInfo, node: NodeInfo): void {
    this.#preFilters.addPod(state, toSchedule, pod, node);
  }

  removePod(state: CycleState, toSchedule: PodInfo, pod: PodInfo, node: NodeInfo): void {
    this.#preFilters.removePod(state, toSchedule, pod, node);
  }

  /**
   * A node must fit with the pods that were promised it, if their priority is as high, and without them: they may end up
   * elsewhere.
   */
  filterWithNominated(state: CycleState, pod: PodInfo, node: NodeInfo): PluginRejection | undefined {
    const promised = this.#nominated.onNode(node.name);
    if (promised.length > 0) {
      const yieldsTo = promised.filter((other) => other.priority >= pod.priority && other.uid !== pod.uid);
      const rejection = yieldsTo.length > 0 ? this.#filterWith(yieldsTo, state, pod, node) : undefined;
      if (rejection !== undefined) return rejection;
    }
    return this.#filter(state, pod, node);
  }

  #filterWith(others: readonly PodInfo[], state: CycleState, pod: PodInfo, node: NodeInfo): PluginRejection | undefined {
    const trialState = state.clone();
    const trialNode = node.clone();
    for (const other of others) {
      trialNode.addPod(other);
      this.#preFilters.addPod(trialState, pod, other, trialNode);
    }
    return this.#filter(trialState, pod, trialNode);
  }

  #filter(state: CycleState, pod: PodInfo, node: NodeInfo): PluginRejection | undefined {
    let rejections: PluginRejection[] | undefined;
    let running = '';
    try {
      for (const plugin of this.#filtersFor(state.skippedFilters)) {
        running = plugin.name;
        const answer = plugin.filter(state, pod, node);
        if (answer === undefined) continue;
        const rejection = asRejection(running, 'filter', answer);
        if (!this.#checkAll) return rejection;
        rejections = [...(rejections ?? []), rejection];
      }
    } catch (error) {
      throw pluginFailure(running, 'filter', error);
    }
    return rejections && merged(rejections);
  }

  /** The same for all nodes of a cycle: worked out once. */
  #filtersFor(skipped: ReadonlySet<string>): readonly PluginAt<'filter'>[] {
    if (skipped !== this.#skipped || skipped.size !== this.#skippedSize) {
      this.#skipped = skipped;
      this.#skippedSize = skipped.size;
      this.#active = this.#filters.filter(({ name }) => !skipped.has(name));
    }
    return this.#active;
  }
}

const gravity: Readonly<Record<RejectionCode, number>> = { Pending: 0, Unschedulable: 1, UnschedulableAndUnresolvable: 2 };

/** The gravest rejection says what can be done; the reasons are all told. */
function merged(parts: readonly PluginRejection[]): PluginRejection | undefined {
  const [gravest] = parts.toSorted((one, other) => gravity[other.code] - gravity[one.code]);
  return gravest && { ...gravest, reasons: parts.flatMap(({ reasons }) => reasons), parts };
}

/** What one plugin gave; each list is in the order of the nodes. */
export interface PluginScores {
  readonly plugin: string;
  readonly weight: number;
  /** As the plugin scored. */
  readonly raw: readonly number[];
  /** From 0 to 100; not yet multiplied by the weight. */
  readonly normalized: readonly number[];
}

/** What the nodes are worth, in the order of the nodes. */
export interface NodeScores {
  readonly totals: readonly number[];
  /** Without the plugins that had nothing to say of this pod. */
  readonly plugins: readonly PluginScores[];
}

/** Asks the plugins of a profile how good the nodes are. Behaviour of pkg/scheduler/framework/runtime/framework.go, v1.36.3. */
export class ScoreRunner {
  readonly #preScorers: readonly PluginAt<'preScore'>[];
  readonly #scorers: readonly PluginAt<'score'>[];
  readonly #weights: ReadonlyMap<string, number>;

  constructor(profile: ProfilePlugins) {
    this.#preScorers = pluginsAt(profile, 'preScore');
    this.#scorers = pluginsAt(profile, 'score');
    this.#weights = profile.weights;
  }

  get hasScorers(): boolean {
    return this.#scorers.length > 0;
  }

  preScore(state: CycleState, pod: PodInfo, nodes: readonly NodeInfo[]): void {
    for (const plugin of this.#preScorers) askPreScore(plugin, state, pod, nodes);
  }

  /** Each plugin's scores, normalised, times its weight, are added up. */
  score(state: CycleState, pod: PodInfo, nodes: readonly NodeInfo[]): NodeScores {
    const totals = new Array<number>(nodes.length).fill(0);
    const plugins: PluginScores[] = [];
    for (const plugin of this.#scorers) {
      if (state.skippedScores.has(plugin.name)) continue;
      const weight = this.#weights.get(plugin.name) ?? 1;
      const raw = scoresOf(plugin, state, pod, nodes);
      const normalized = normalize(plugin, state, pod, nodes, plugin.normalizeScores === undefined ? raw : [...raw]);
      addWeighted(totals, normalized, weight);
      plugins.push({ plugin: plugin.name, weight, raw, normalized });
    }
    return { totals, plugins };
  }
}

/** Adds a plugin's scores, times its weight, to those of the plugins before it. */
export function addWeighted(totals: number[], scores: readonly number[], weight: number): void {
  for (let index = 0; index < totals.length; index += 1) {
    totals[index] = (totals[index] as number) + (scores[index] as number) * weight;
  }
}

/** A plugin that has nothing to say of the pod is noted in the state. Throws PluginError. */
export function askPreScore(plugin: PluginAt<'preScore'>, state: CycleState, pod: PodInfo, nodes: readonly NodeInfo[]): void {
  let answer: unknown;
  try {
    answer = plugin.preScore(state, pod, nodes);
  } catch (error) {
    throw pluginFailure(plugin.name, 'preScore', error);
  }
  if (answer === 'skip') state.skippedScores.add(plugin.name);
  else if (answer !== undefined) throw wrongAnswer(plugin.name, 'preScore', 'undefined or "skip"', answer);
}

/** Throws PluginError for what is no number. */
export function requireScore(plugin: PluginAt<'score'>, score: unknown): number {
  if (typeof score !== 'number' || Number.isNaN(score)) throw wrongAnswer(plugin.name, 'score', 'a number', score);
  return score;
}

/** As the plugin scores each node. Throws PluginError. */
export function scoresOf(plugin: PluginAt<'score'>, state: CycleState, pod: PodInfo, nodes: readonly NodeInfo[]): number[] {
  const scores: number[] = [];
  try {
    for (const node of nodes) scores.push(requireScore(plugin, plugin.score(state, pod, node)));
  } catch (error) {
    throw pluginFailure(plugin.name, 'score', error);
  }
  return scores;
}

/** Brings the scores to 0 … 100, in place, and returns them. Throws PluginError. */
export function normalize(
  plugin: PluginAt<'score'>,
  state: CycleState,
  pod: PodInfo,
  nodes: readonly NodeInfo[],
  scores: number[],
): readonly number[] {
  if (plugin.normalizeScores !== undefined) {
    let answer: unknown;
    try {
      answer = plugin.normalizeScores(state, pod, scores, nodes);
    } catch (error) {
      throw pluginFailure(plugin.name, 'score', error);
    }
    if (answer !== undefined) throw wrongAnswer(plugin.name, 'score', 'nothing from normalizeScores', answer);
  }
  if (scores.length !== nodes.length) {
    throw new PluginError(plugin.name, 'score', `normalizeScores left ${scores.length} scores of ${nodes.length}`);
  }
  for (let index = 0; index < scores.length; index += 1) requireNormalised(plugin, scores[index] as number, nodes[index]);
  return scores;
}

/** Throws PluginError for what is not from 0 to 100. */
export function requireNormalised(plugin: PluginAt<'score'>, score: number, node: NodeInfo | undefined): number {
  if (score >= 0 && score <= maxNodeScore) return score;
  const found = `normalised scores must be from 0 to ${maxNodeScore}, node ${node?.name} has ${score}`;
  throw new PluginError(plugin.name, 'score', found);
}
