import type { ImageAccount } from '../nodes/image-account.ts';
import type { ImageState, NodeInfo } from '../nodes/node-info.ts';
import { placesFor, ScoreColumn } from './kept-columns.ts';
import type { RecurringValues } from './recurring-values.ts';

/** Columns of images hold so many nodes together. */
const mostNodes = 2 ** 18;
const mostColumns = 64;
const fewestColumns = 4;

/** Which places of a snapshot have an image. A place is looked at when somebody asks about it, and again once its node has other images. */
export class ImagePlaces {
  readonly #account: ImageAccount;
  readonly #nodes: readonly NodeInfo[];
  readonly #epoch: number;
  readonly #columns: RecurringValues<ScoreColumn>;

  constructor(account: ImageAccount, nodes: readonly NodeInfo[], epoch: number, columns: RecurringValues<ScoreColumn>) {
    this.#account = account;
    this.#nodes = nodes;
    this.#epoch = epoch;
    this.#columns = columns;
  }

  /** How many nodes there are. */
  get size(): number {
    return this.#nodes.length;
  }

  /** Undefined for an image that no node has. */
  stateOf(name: string): ImageState | undefined {
    return this.#account.stateOf(name);
  }

  /** Whether the node at a place has the image. To be asked for once for each image of a pod: what comes once is not kept. */
  holders(name: string): (place: number) => boolean {
    const nodes = this.#nodes;
    const has = (place: number): boolean => (nodes[place] as NodeInfo).images.has(name);
    const most = Math.max(fewestColumns, Math.min(mostColumns, Math.trunc(mostNodes / placesFor(nodes.length))));
    const column = this.#columns.get(name, most, () => new ScoreColumn());
    if (column === undefined) return has;
    column.begin(this.#epoch, nodes.length);
    const { generations } = this.#account;
    return (place) => {
      const generation = generations[place] as number;
      const known = column.get(place, generation);
      if (!Number.isNaN(known)) return known === 1;
      const found = has(place);
      column.set(place, generation, Number(found));
      return found;
    };
  }
}
