import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { CycleState } from './cycle-state.ts';
import { ScoreColumn } from './kept-columns.ts';
import type { NodePlaces } from './node-places.ts';
import { type PlaceScore, placedAnswersOf } from './placed-plugin.ts';
import { type PluginAt, type ProfilePlugins, pluginsAt } from './plugin.ts';
import { pluginFailure } from './plugin-error.ts';
import { addWeighted, askPreScore, normalize, requireScore, scoresOf } from './plugin-runner.ts';
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
      const raw = score === undefined ? this.#kept(number, plugin, scored, most) : byPlace(plugin, score, scored.at);
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

  #kept(number: number, plugin: PluginAt<'score'>, { state, pod, nodes, at, places }: Scored, most: number): number[] {
    const patience = this.#patience[number];
    const signature = patience?.ask() === true ? this.#signatures.of(plugin, pod, 'score') : undefined;
    const column =
      signature === undefined ? undefined : this.#columns.get(`${number} ${signature}`, most, () => new ScoreColumn());
    if (column === undefined) return scoresOf(plugin, state, pod, nodes);
    patience?.found();
    column.begin(places.epoch, places.nodes.length);
    const scores = new Array<number>(nodes.length);
    try {
      for (let index = 0; index < scores.length; index += 1) {
        const node = nodes[index] as NodeInfo;
        const place = at[index] as number;
        const known = column.get(place, node.generation);
        if (!Number.isNaN(known)) {
          scores[index] = known;
          continue;
        }
        const score = requireScore(plugin, plugin.score(state, pod, node));
        column.set(place, node.generation, score);
        scores[index] = score;
      }
    } catch (error) {
      throw pluginFailure(plugin.name, 'score', error);
    }
    return scores;
  }
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
