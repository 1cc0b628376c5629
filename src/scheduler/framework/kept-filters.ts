import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { CycleState } from './cycle-state.ts';
import { FilterColumn } from './kept-columns.ts';
import type { NodePlaces } from './node-places.ts';
import { type PlaceFilter, placedAnswersOf } from './placed-plugin.ts';
import type { NominatedPods, PluginAt, PluginRejection, Rejection } from './plugin.ts';
import { asRejection, pluginFailure } from './plugin-error.ts';
import { RecurringValues } from './recurring-values.ts';

/** What the filters say of the node at this place of the snapshot. */
export type PlaceVerdict = (node: NodeInfo, place: number) => PluginRejection | undefined;

/** How a node is asked about with nothing kept. */
export interface FilterPlainly {
  filterWithNominated(state: CycleState, pod: PodInfo, node: NodeInfo): PluginRejection | undefined;
}

/** The promised nodes, with their number where that is known. */
export interface CountedNominations extends NominatedPods {
  readonly size?: number;
}

/** One filter at work for one pod. */
interface Step {
  /** Its place among the filters. */
  readonly number: number;
  readonly ask: PlaceVerdict;
}

/** Asks filters about the nodes of a snapshot, and keeps what they say of a node for pods of one signature, until that node or its pods change. */
export class KeptFilters {
  readonly #filters: readonly PluginAt<'filter'>[];
  readonly #nominated: CountedNominations;
  readonly #plainly: FilterPlainly;
  readonly #columns = new RecurringValues<FilterColumn>();

  constructor(filters: readonly PluginAt<'filter'>[], nominated: CountedNominations, plainly: FilterPlainly) {
    this.#filters = filters;
    this.#nominated = nominated;
    this.#plainly = plainly;
  }

  /** For one pod, after preFilter. `most`: how many columns may be kept. */
  begin(state: CycleState, pod: PodInfo, places: NodePlaces, most: number): PlaceVerdict {
    const { keyed, others, key } = this.#stepsFor(state, pod, places);
    const column = keyed.length === 0 ? undefined : this.#columns.get(key, most, () => new FilterColumn());
    column?.begin(places.epoch, places.nodes.length);
    const verdict = column === undefined ? askAll(inOrder(keyed, others)) : askKept(keyed, others, column);
    const plainly: PlaceVerdict = (node) => this.#plainly.filterWithNominated(state, pod, node);
    if (this.#nominated.size === 0) return verdict;
    return (node, place) => (this.#nominated.onNode(node.name).length > 0 ? plainly(node, place) : verdict(node, place));
  }

  #stepsFor(state: CycleState, pod: PodInfo, places: NodePlaces) {
    const keyed: Step[] = [];
    const others: Step[] = [];
    let key = '';
    for (const [number, plugin] of this.#filters.entries()) {
      if (state.skippedFilters.has(plugin.name)) continue;
      const signature = plugin.signature?.(pod);
      const answer = signature === undefined ? placedAnswersOf(plugin)?.filter?.(state, places) : undefined;
      const step: Step = { number, ask: answer === undefined ? stepOf(plugin, state, pod) : placedStepOf(plugin, answer) };
      if (signature === undefined) {
        others.push(step);
      } else {
        keyed.push(step);
        key += `${number} ${signature.length} ${signature} `;
      }
    }
    return { keyed, others, key };
  }
}

function stepOf(plugin: PluginAt<'filter'>, state: CycleState, pod: PodInfo): PlaceVerdict {
  return (node) => {
    let answer: unknown;
    try {
      answer = plugin.filter(state, pod, node);
    } catch (error) {
      throw pluginFailure(plugin.name, 'filter', error);
    }
    return answer === undefined ? undefined : asRejection(plugin.name, 'filter', answer);
  };
}

function placedStepOf({ name }: PluginAt<'filter'>, filter: PlaceFilter): PlaceVerdict {
  let last: { readonly answer: Rejection; readonly rejection: PluginRejection } | undefined;
  return (_node, place) => {
    let answer: Rejection | undefined;
    try {
      answer = filter(place);
    } catch (error) {
      throw pluginFailure(name, 'filter', error);
    }
    if (answer === undefined) return undefined;
    if (last?.answer !== answer) last = { answer, rejection: asRejection(name, 'filter', answer) };
    return last.rejection;
  };
}

function inOrder(keyed: readonly Step[], others: readonly Step[]): readonly Step[] {
  return [...keyed, ...others].sort((one, other) => one.number - other.number);
}

function askAll(steps: readonly Step[]): PlaceVerdict {
  return (node, place) => {
    for (const { ask } of steps) {
      const rejection = ask(node, place);
      if (rejection !== undefined) return rejection;
    }
    return undefined;
  };
}

/** The first rejection in the order of the filters, whatever of it is kept. */
function askKept(keyed: readonly Step[], others: readonly Step[], column: FilterColumn): PlaceVerdict {
  const askInOrder = askAll(inOrder(keyed, others));
  const lookUp = (node: NodeInfo, place: number, generation: number): number => {
    for (const { number, ask } of keyed) {
      const rejection = ask(node, place);
      if (rejection === undefined) continue;
      column.reject(place, generation, number, rejection);
      return column.verdict(place, generation);
    }
    column.agree(place, generation);
    return 0;
  };
  return (node, place) => {
    const { generation } = node;
    let verdict = column.verdict(place, generation);
    if (verdict < 0) {
      try {
        verdict = lookUp(node, place, generation);
      } catch {
        // a filter before it may reject the node, and then it is not asked
        verdict = unknown;
      }
      if (verdict < 0) return askInOrder(node, place);
    }
    const rejecting = verdict === 0 ? Number.POSITIVE_INFINITY : column.filterOf(verdict);
    for (const { number, ask } of others) {
      if (number > rejecting) break;
      const rejection = ask(node, place);
      if (rejection !== undefined) return rejection;
    }
    return verdict === 0 ? undefined : column.rejection(verdict);
  };
}

const unknown = -1;
