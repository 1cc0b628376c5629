import type { NodeInfo } from '../nodes/node-info.ts';
import type { DomainCheck } from './domain-check.ts';
import type { FilterColumn } from './kept-columns.ts';
import type { NodePlaces } from './node-places.ts';
import type { PluginRejection } from './plugin.ts';

/** What the filters say of the node at this place of the snapshot. */
export type PlaceVerdict = (node: NodeInfo, place: number) => PluginRejection | undefined;

/** What is known of a pod's filters before a node is looked at. */
export interface KnownAnswers {
  readonly places: NodePlaces;
  /** Of the filters whose answers are kept. */
  readonly column: FilterColumn;
  /** Of all others. */
  readonly checks: readonly DomainCheck[];
  /** The places about which `verdict` is asked in any case. */
  readonly odd: ReadonlySet<number>;
  readonly verdict: PlaceVerdict;
}

/**
 * Goes through the places of a snapshot by what is known already, and asks only where nothing is. Why a node does not fit is worked out
 * when it is asked for: of a pod that finds a node nobody wants to know.
 */
export class PlaceScan {
  readonly #known: KnownAnswers;
  readonly #nodes: readonly NodeInfo[];
  /** Those that asking has brought: a plugin is not asked twice. */
  readonly #told = new Map<number, PluginRejection>();
  #fitting: readonly number[] = [];
  #start = 0;
  #looked = 0;

  constructor(known: KnownAnswers) {
    this.#known = known;
    this.#nodes = known.places.nodes;
  }

  /** The places of the nodes that fit, in the order in which they were looked at: from `start` on and round, until there are enough. */
  run(start: number, enough: number): readonly number[] {
    const { places, column, checks, odd } = this.#known;
    const { generations } = places;
    const { length } = this.#nodes;
    // with its length known, the list is not copied as it grows
    const fitting = new Array<number>(Math.min(enough, length));
    const [first] = checks;
    const hasOdd = odd.size > 0;
    const hasMore = checks.length > 1;
    this.#start = start;
    let looked = 0;
    let found = 0;
    for (let place = start; looked < length && found < enough; looked += 1) {
      const verdict = hasOdd && odd.has(place) ? -1 : column.verdict(place, generations[place] as number);
      if (verdict < 0) {
        if (this.#ask(place)) fitting[found++] = place;
      } else if (verdict === 0 && first?.isRejected(place) !== true && !(hasMore && isRejected(checks, place))) {
        fitting[found++] = place;
      }
      place = place + 1 === length ? 0 : place + 1;
    }
    fitting.length = found;
    this.#fitting = fitting;
    this.#looked = looked;
    return fitting;
  }

  /** How many nodes do not fit. */
  get rejected(): number {
    return this.#looked - this.#fitting.length;
  }

  /** The nodes that do not fit, and why. Nothing must have changed since. */
  *rejections(): Generator<readonly [NodeInfo, PluginRejection]> {
    let next = 0;
    for (let step = 0; step < this.#looked; step += 1) {
      const place = (this.#start + step) % this.#nodes.length;
      if (this.#fitting[next] === place) {
        next += 1;
        continue;
      }
      const node = this.#nodes[place] as NodeInfo;
      const rejection = this.#told.get(place) ?? this.#known.verdict(node, place);
      if (rejection !== undefined) yield [node, rejection];
    }
  }

  #ask(place: number): boolean {
    const rejection = this.#known.verdict(this.#nodes[place] as NodeInfo, place);
    if (rejection !== undefined) this.#told.set(place, rejection);
    return rejection === undefined;
  }
}

function isRejected(checks: readonly DomainCheck[], place: number): boolean {
  for (let index = 1; index < checks.length; index += 1) if ((checks[index] as DomainCheck).isRejected(place)) return true;
  return false;
}
