import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { CycleState } from './cycle-state.ts';
import { ScoreColumn } from './kept-columns.ts';
import type { NodePlaces } from './node-places.ts';
import { type PlaceScore, placedAnswersOf } from './placed-plugin.ts';
import { type PluginAt, type ProfilePlugins, pluginsAt } from './plugin.ts';
import { pluginFailure } from './plugin-error.ts';
import { addWeighted, askPreScore, normalize, requireNormalised, requireScore, scoresOf } from './plugin-runner.ts';
import { Patience, RecurringValues } from './recurring-values.ts';
import type { Signatures } from './signatures.ts';

/** One pod, and the nodes that it fits on with their places. */
interface Scored {
  readonly state: CycleState;
  readonly pod: PodInfo;
  readonly nodes: readonly NodeInfo[];
  readonly at: readonly number[];
  readonly places: NodePlaces;
}

/** Adds up what plugins score nodes with, and keeps the scores of a node for pods of one signature, until that node or its pods change. */
export class KeptScores {
  readonly #preScorers: readonly PluginAt<'preScore'>[];
  readonly #scorers: readonly PluginAt<'score'>[];
  readonly #weights: ReadonlyMap<string, number>;
  readonly #signatures: Signatures;
  #columns = new RecurringValues<ScoreColumn>();
  /** For each of the scorers. */
  readonly #patience: readonly Patience[];

  constructor(profile: ProfilePlugins, signatures: Signatures) {
    this.#preScorers = pluginsAt(profile, 'preScore');
    this.#scorers = pluginsAt(profile, 'score');
    this.#weights = profile.weights;
    this.#signatures = signatures;
    this.#patience = this.#scorers.map(() => new Patience());
  }

  /** What the nodes are worth, in their order. `most`: how many columns may be kept. */
  totals(scored: Scored, most: number): number[] {
    const { state, pod, nodes } = scored;
    this.#preScore(scored);
    const totals = new Array<number>(nodes.length).fill(0);
    for (const [number, plugin] of this.#scorers.entries()) {
      if (state.skippedScores.has(plugin.name)) continue;
      const weight = this.#weights.get(plugin.name) ?? 1;
      const score = placedAnswersOf(plugin)?.score?.(state, scored.places);
      if (score !== undefined) {
        addWeighted(totals, normalize(plugin, state, pod, nodes, byPlace(plugin, score, scored.at)), weight);
        continue;
      }
      const column = this.#columnOf(number, plugin, scored, most);
      if (column !== undefined && plugin.normalizeScores === undefined) {
        addKept(totals, column, plugin, scored, weight);
        continue;
      }
      const raw = column === undefined ? scoresOf(plugin, state, pod, nodes) : fromColumn(column, plugin, scored);
      addWeighted(totals, normalize(plugin, state, pod, nodes, raw), weight);
    }
    return totals;
  }

  /** Nothing is known any more. */
  forget(): void {
    this.#columns = new RecurringValues();
  }

  #preScore({ state, pod, nodes, at, places }: Scored): void {
    for (const plugin of this.#preScorers) {
      const prepare = placedAnswersOf(plugin)?.preScore;
      let answer: 'skip' | 'done' | undefined;
      try {
        answer = prepare?.(state, pod, at, places);
      } catch (error) {
        throw pluginFailure(plugin.name, 'preScore', error);
      }
      if (answer === undefined) askPreScore(plugin, state, pod, nodes);
      else if (answer === 'skip') state.skippedScores.add(plugin.name);
    }
  }

  /** Undefined where nothing is kept for the pod. */
  #columnOf(number: number, plugin: PluginAt<'score'>, { pod, places }: Scored, most: number): ScoreColumn | undefined {
    const patience = this.#patience[number];
    const signature = patience?.ask() === true ? this.#signatures.of(plugin, pod, 'score') : undefined;
    if (signature === undefined) return undefined;
    const column = this.#columns.get(`${number} ${signature}`, most, () => new ScoreColumn());
    if (column === undefined) return undefined;
    patience?.found();
    column.begin(places.epoch, places.nodes.length);
    return column;
  }
}

/** Adds scores that need no scaling, and asks about the nodes of which nothing is known. */
function addKept(totals: number[], column: ScoreColumn, plugin: PluginAt<'score'>, scored: Scored, weight: number): void {
  const { state, pod, nodes, at, places } = scored;
  const { generations } = places;
  try {
    for (let index = 0; index < totals.length; index += 1) {
      const place = at[index] as number;
      const generation = generations[place] as number;
      let score = column.get(place, generation);
      if (Number.isNaN(score)) {
        const node = nodes[index] as NodeInfo;
        score = requireNormalised(plugin, requireScore(plugin, plugin.score(state, pod, node)), node);
        column.set(place, generation, score);
      }
      totals[index] = (totals[index] as number) + score * weight;
    }
  } catch (error) {
    throw pluginFailure(plugin.name, 'score', error);
  }
}

function fromColumn(column: ScoreColumn, plugin: PluginAt<'score'>, { state, pod, nodes, at, places }: Scored): number[] {
  const scores = new Array<number>(nodes.length);
  const { generations } = places;
  try {
    for (let index = 0; index < scores.length; index += 1) {
      const place = at[index] as number;
      const generation = generations[place] as number;
      const known = column.get(place, generation);
      if (!Number.isNaN(known)) {
        scores[index] = known;
        continue;
      }
      const score = requireScore(plugin, plugin.score(state, pod, nodes[index] as NodeInfo));
      column.set(place, generation, score);
      scores[index] = score;
    }
  } catch (error) {
    throw pluginFailure(plugin.name, 'score', error);
  }
  return scores;
}

function byPlace(plugin: PluginAt<'score'>, score: PlaceScore, at: readonly number[]): number[] {
  const scores = new Array<number>(at.length);
  try {
    for (let index = 0; index < scores.length; index += 1) scores[index] = requireScore(plugin, score(at[index] as number));
  } catch (error) {
    throw pluginFailure(plugin.name, 'score', error);
  }
  return scores;
}
