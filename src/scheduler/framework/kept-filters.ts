import type { NodeInfo } from '../nodes/node-info.ts';
import type { PodInfo } from '../nodes/pod-info.ts';
import type { CycleState } from './cycle-state.ts';
import type { DomainCheck } from './domain-check.ts';
import { FilterColumn, type FoundRejection } from './kept-columns.ts';
import type { NodePlaces } from './node-places.ts';
import { PlaceScan, type PlaceVerdict } from './place-scan.ts';
import { placedAnswersOf } from './placed-plugin.ts';
import type { NominatedPods, PluginAt, PluginRejection, Rejection } from './plugin.ts';
import { asRejection, pluginFailure } from './plugin-error.ts';
import { Patience, RecurringValues } from './recurring-values.ts';
import type { Signatures } from './signatures.ts';

/** How nodes are asked about for one pod. */
export interface PodVerdicts {
  readonly verdict: PlaceVerdict;
  /** Does the same for many nodes; undefined where a plugin is to be asked about each of them. For one run. */
  readonly scan: PlaceScan | undefined;
}

/** How a node is asked about with nothing kept. */
export interface FilterPlainly {
  filterWithNominated(state: CycleState, pod: PodInfo, node: NodeInfo): PluginRejection | undefined;
}

/** The promised nodes, with their number where that is known. */
export interface CountedNominations extends NominatedPods {
  readonly size?: number;
  /** The names of these nodes. */
  nodeNames?(): Iterable<string>;
}

/** With more promised nodes, each node is asked about by itself. */
const mostPromised = 256;

/** One filter at work for one pod. */
interface Step {
  /** Its place among the filters. */
  readonly number: number;
  readonly plugin: PluginAt<'filter'>;
  /** Asked in place of the plugin, where it can be. */
  readonly checks: readonly DomainCheck[] | undefined;
  /** What it said by a place last: it often says the same. */
  last?: { readonly answer: Rejection; readonly rejection: PluginRejection };
}

/** One pod's filters. */
interface Steps {
  readonly state: CycleState;
  readonly pod: PodInfo;
  readonly all: readonly Step[];
  /** Those whose answers may be kept. */
  readonly keyed: readonly Step[];
  readonly others: readonly Step[];
  /** Pods with the same key have the same answers of these. */
  readonly key: string;
}

/** Asks filters about the nodes of a snapshot, and keeps what they say of a node for pods of one signature, until that node or its pods change. */
export class KeptFilters {
  readonly #filters: readonly PluginAt<'filter'>[];
  readonly #nominated: CountedNominations;
  readonly #plainly: FilterPlainly;
  readonly #signatures: Signatures;
  #columns = new RecurringValues<FilterColumn>();
  readonly #patience = new Patience();

  constructor(
    filters: readonly PluginAt<'filter'>[],
    signatures: Signatures,
    nominated: CountedNominations,
    plainly: FilterPlainly,
  ) {
    this.#filters = filters;
    this.#signatures = signatures;
    this.#nominated = nominated;
    this.#plainly = plainly;
  }

  /** For one pod, after preFilter. `most`: how many columns may be kept. */
  begin(state: CycleState, pod: PodInfo, places: NodePlaces, most: number): PodVerdicts {
    const plainly: PlaceVerdict = (node) => this.#plainly.filterWithNominated(state, pod, node);
    const steps = this.#stepsFor(state, pod, places);
    const column = steps.keyed.length === 0 ? undefined : this.#columns.get(steps.key, most, () => new FilterColumn());
    if (column !== undefined) this.#patience.found();
    if (column === undefined && steps.others.every(({ checks }) => checks === undefined)) {
      return { verdict: plainly, scan: undefined };
    }
    column?.begin(places.epoch, places.nodes.length);
    const unpromised: PlaceVerdict =
      column === undefined
        ? (node, place) => ask(steps.all, steps, node, place, noLimit)
        : (node, place) => askKept(steps, column, node, place);
    const odd = this.#promisedPlaces(places);
    const verdict: PlaceVerdict =
      this.#nominated.size === 0
        ? unpromised
        : (node, place) => (this.#nominated.onNode(node.name).length > 0 ? plainly(node, place) : unpromised(node, place));
    const checks = checksOf(steps.others);
    if (column === undefined || odd === undefined || checks === undefined) return { verdict, scan: undefined };
    return { verdict, scan: new PlaceScan({ places, column, checks, odd, verdict }) };
  }

  /** Undefined where they are not known, or too many. */
  #promisedPlaces(places: NodePlaces): ReadonlySet<number> | undefined {
    const { size = Number.POSITIVE_INFINITY } = this.#nominated;
    if (size === 0) return new Set();
    const names = size > mostPromised ? undefined : this.#nominated.nodeNames?.();
    return names && new Set([...names].map((name) => places.of(name) ?? -1));
  }

  /** Nothing is known any more. */
  forget(): void {
    this.#columns = new RecurringValues();
  }

  #stepsFor(state: CycleState, pod: PodInfo, places: NodePlaces): Steps {
    const all: Step[] = [];
    const keyed: Step[] = [];
    const others: Step[] = [];
    let key = '';
    const isAsked = this.#patience.ask();
    for (const [number, plugin] of this.#filters.entries()) {
      if (state.skippedFilters.has(plugin.name)) continue;
      const signature = isAsked ? this.#signatures.of(plugin, pod, 'filter') : undefined;
      const checks = signature === undefined ? placedAnswersOf(plugin)?.filter?.(state, places) : undefined;
      const step: Step = { number, plugin, checks };
      all.push(step);
      if (signature === undefined) {
        others.push(step);
      } else {
        keyed.push(step);
        key += `${number} ${signature.length} ${signature} `;
      }
    }
    return { state, pod, all, keyed, others, key };
  }
}

/** Those of all these filters; undefined where one of them has none. */
function checksOf(steps: readonly Step[]): readonly DomainCheck[] | undefined {
  const all: DomainCheck[] = [];
  for (const { checks } of steps) {
    if (checks === undefined) return undefined;
    all.push(...checks);
  }
  return all;
}

/** The first rejection of these checks. */
function firstRejection(checks: readonly DomainCheck[], place: number): Rejection | undefined {
  for (const check of checks) {
    const rejection = check.rejection(place);
    if (rejection !== undefined) return rejection;
  }
  return undefined;
}

/** The first rejection of these filters, in their order. Those after the number `last` are not asked. `told` is told which filter rejects. */
function ask(
  steps: readonly Step[],
  { state, pod }: Steps,
  node: NodeInfo,
  place: number,
  last: number,
  told?: (found: FoundRejection) => void,
): PluginRejection | undefined {
  let running = '';
  try {
    for (const step of steps) {
      const { number, plugin, checks } = step;
      if (number > last) break;
      running = plugin.name;
      if (checks !== undefined) {
        const answer = firstRejection(checks, place);
        if (answer === undefined) continue;
        if (step.last?.answer !== answer) step.last = { answer, rejection: asRejection(running, 'filter', answer) };
        return step.last.rejection;
      }
      const answer = plugin.filter(state, pod, node);
      if (answer === undefined) continue;
      const rejection = asRejection(running, 'filter', answer);
      told?.({ filter: number, rejection });
      return rejection;
    }
  } catch (error) {
    throw pluginFailure(running, 'filter', error);
  }
  return undefined;
}

/** Greater than the number of any filter. */
const noLimit = Number.POSITIVE_INFINITY;

/** The first rejection in the order of the filters, whatever of it is kept. */
function askKept(steps: Steps, column: FilterColumn, node: NodeInfo, place: number): PluginRejection | undefined {
  const verdict = column.verdict(place, node.generation);
  let found: FoundRejection | undefined;
  try {
    found = verdict < 0 ? lookUp(steps, column, node, place) : column.found(verdict);
  } catch {
    // a filter before it may reject the node, and then it is not asked
    return ask(steps.all, steps, node, place, noLimit);
  }
  return ask(steps.others, steps, node, place, found?.filter ?? noLimit) ?? found?.rejection;
}

/** Asks the filters whose answers may be kept, and keeps what they say. */
function lookUp(steps: Steps, column: FilterColumn, node: NodeInfo, place: number): FoundRejection | undefined {
  let found: FoundRejection | undefined;
  ask(steps.keyed, steps, node, place, noLimit, (first) => {
    found = first;
  });
  if (found === undefined) column.agree(place, node.generation);
  else column.reject(place, node.generation, found);
  return found;
}
