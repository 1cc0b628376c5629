import type { NodeInfo, Snapshot } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { CycleState } from './cycle-state.ts';
import { placesFor } from './kept-columns.ts';
import { type CountedNominations, type FilterPlainly, KeptFilters, type PodVerdicts } from './kept-filters.ts';
import { KeptScores } from './kept-scores.ts';
import { NodePlaces } from './node-places.ts';
import { type Plugin, type ProfilePlugins, pluginsAt } from './plugin.ts';
import { Signatures } from './signatures.ts';

/** Columns of filters, and as many of scores, hold so many nodes together. */
const mostNodes = 2 ** 19;
const mostColumns = 64;
const fewestColumns = 4;

/**
 * Keeps what the plugins of a profile say of each node, see {@link Plugin.signature}. Pods are placed as if nothing were kept. Where a plugin that filters or
 * scores has no signature, and where all filters are to look at each node, nothing is kept.
 */
export class KeptAnswers {
  readonly #isOn: boolean;
  readonly #filters: KeptFilters;
  readonly #scores: KeptScores;
  readonly #signatures = new Signatures();
  readonly #places = new NodePlaces();
  #room = 0;

  constructor(profile: ProfilePlugins, nominated: CountedNominations, plainly: FilterPlainly) {
    const filters = pluginsAt(profile, 'filter');
    const scorers = pluginsAt(profile, 'score');
    const hasSignature = (plugin: Plugin): boolean => typeof plugin.signature === 'function';
    this.#isOn = profile.checkAllFilters !== true && [...filters, ...scorers].every(hasSignature);
    this.#filters = new KeptFilters(filters, this.#signatures, nominated, plainly);
    this.#scores = new KeptScores(profile, this.#signatures);
  }

  /** How nodes are to be asked about for this pod; undefined where nothing is kept. After preFilter. */
  verdicts(state: CycleState, pod: PodInfo, snapshot: Snapshot): PodVerdicts | undefined {
    if (!this.#isOn) return undefined;
    this.#signatures.begin();
    this.#begin(snapshot);
    return this.#filters.begin(state, pod, this.#places, mostOf(this.#room));
  }

  /** What nodes of the snapshot are worth to the pod. `at`: their places, from the same cycle's search. */
  totals(state: CycleState, pod: PodInfo, snapshot: Snapshot, nodes: readonly NodeInfo[], at: readonly number[]): number[] {
    this.#begin(snapshot);
    return this.#scores.totals({ state, pod, nodes, at, places: this.#places }, mostOf(this.#room));
  }

  /** A column keeps its size until it is used again, so columns of several sizes would hold more than they may. */
  #begin(snapshot: Snapshot): void {
    this.#places.begin(snapshot);
    const room = placesFor(snapshot.nodes.length);
    if (room === this.#room) return;
    this.#room = room;
    this.#filters.forget();
    this.#scores.forget();
  }
}

function mostOf(room: number): number {
  return Math.max(fewestColumns, Math.min(mostColumns, Math.trunc(mostNodes / room)));
}
