import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { CycleState } from './cycle-state.ts';
import { maxNodeScore, type PluginAt, type ProfilePlugins, pluginsAt } from './plugin.ts';
import { PluginError, pluginFailure, wrongAnswer } from './plugin-error.ts';

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
    for (const plugin of this.#preScorers) {
      let answer: unknown;
      try {
        answer = plugin.preScore(state, pod, nodes);
      } catch (error) {
        throw pluginFailure(plugin.name, 'preScore', error);
      }
      if (answer === 'skip') state.skippedScores.add(plugin.name);
      else if (answer !== undefined) throw wrongAnswer(plugin.name, 'preScore', 'undefined or "skip"', answer);
    }
  }

  /** Each plugin's scores, normalised, times its weight, are added up. */
  score(state: CycleState, pod: PodInfo, nodes: readonly NodeInfo[]): NodeScores {
    const totals = new Array<number>(nodes.length).fill(0);
    const plugins: PluginScores[] = [];
    for (const plugin of this.#scorers) {
      if (state.skippedScores.has(plugin.name)) continue;
      const weight = this.#weights.get(plugin.name) ?? 1;
      const raw = scoresOf(plugin, state, pod, nodes);
      const normalized = normalizedScores(plugin, state, pod, nodes, raw);
      for (let index = 0; index < totals.length; index += 1) {
        totals[index] = (totals[index] as number) + (normalized[index] as number) * weight;
      }
      plugins.push({ plugin: plugin.name, weight, raw, normalized });
    }
    return { totals, plugins };
  }
}

function scoresOf(plugin: PluginAt<'score'>, state: CycleState, pod: PodInfo, nodes: readonly NodeInfo[]): number[] {
  const scores: number[] = [];
  try {
    for (const node of nodes) {
      const score: unknown = plugin.score(state, pod, node);
      if (typeof score !== 'number' || Number.isNaN(score)) throw wrongAnswer(plugin.name, 'score', 'a number', score);
      scores.push(score);
    }
  } catch (error) {
    throw pluginFailure(plugin.name, 'score', error);
  }
  return scores;
}

function normalizedScores(
  plugin: PluginAt<'score'>,
  state: CycleState,
  pod: PodInfo,
  nodes: readonly NodeInfo[],
  raw: readonly number[],
): readonly number[] {
  let scores = raw;
  if (plugin.normalizeScores !== undefined) {
    const own = [...raw];
    let answer: unknown;
    try {
      answer = plugin.normalizeScores(state, pod, own, nodes);
    } catch (error) {
      throw pluginFailure(plugin.name, 'score', error);
    }
    if (answer !== undefined) throw wrongAnswer(plugin.name, 'score', 'nothing from normalizeScores', answer);
    scores = own;
  }
  if (scores.length !== nodes.length) {
    throw new PluginError(plugin.name, 'score', `normalizeScores left ${scores.length} scores of ${nodes.length}`);
  }
  const index = scores.findIndex((score) => !(score >= 0 && score <= maxNodeScore));
  if (index === -1) return scores;
  const found = `normalised scores must be from 0 to ${maxNodeScore}, node ${nodes[index]?.name} has ${scores[index]}`;
  throw new PluginError(plugin.name, 'score', found);
}
