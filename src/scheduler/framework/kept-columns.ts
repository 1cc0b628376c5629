import type { PluginRejection } from './plugin.ts';

/** Where nothing is known of a node. */
const unknown = -1;
/** The places grow in steps, so that a node more costs no new column. */
const step = 1024;

/** So many places a column has for so many nodes. */
export function placesFor(nodes: number): number {
  return Math.ceil(nodes / step) * step;
}

/** For each place of a snapshot: of which state of the node there something is known. Another list of nodes makes all of it unknown. */
class Places {
  generations = new Float64Array(0);
  #epoch = -1;

  /** Returns true where nothing is known any more. */
  begin(epoch: number, nodes: number): boolean {
    if (this.#epoch === epoch) return false;
    this.#epoch = epoch;
    if (this.generations.length < nodes) this.generations = new Float64Array(placesFor(nodes));
    this.generations.fill(unknown);
    return true;
  }

  forget(): void {
    this.#epoch = -1;
  }
}

/** So many different rejections a column holds at a time. */
const mostRejections = 255;
/** A rejection with more reasons, or a longer one, is not kept. */
const mostReasons = 8;
const longestReason = 256;

/** A rejection, and the number of the filter that gave it. */
export interface FoundRejection {
  readonly filter: number;
  readonly rejection: PluginRejection;
}

/**
 * What filters have said of nodes: of each node the first rejection, or none. Where it is full of different rejections, further ones are
 * worked out anew for each pod, until they were as many as it has places: then it begins anew, because nodes change and so do rejections.
 */
export class FilterColumn {
  readonly #places = new Places();
  /** 0 where the node fits, else the number of the rejection. */
  #verdicts = new Uint8Array(0);
  readonly #found: FoundRejection[] = [];
  readonly #numbers = new Map<string, number>();
  #withoutNumber = 0;

  begin(epoch: number, nodes: number): void {
    if (this.#withoutNumber > this.#verdicts.length) this.#places.forget();
    if (!this.#places.begin(epoch, nodes)) return;
    if (this.#verdicts.length < this.#places.generations.length) this.#verdicts = new Uint8Array(this.#places.generations.length);
    this.#found.length = 0;
    this.#numbers.clear();
    this.#withoutNumber = 0;
  }

  /** 0 where the node fits, else the number of the rejection; -1 where it is not known. */
  verdict(place: number, generation: number): number {
    return this.#places.generations[place] === generation ? (this.#verdicts[place] as number) : unknown;
  }

  /** Undefined for 0. */
  found(number: number): FoundRejection | undefined {
    return this.#found[number - 1];
  }

  /** The node fits. */
  agree(place: number, generation: number): void {
    this.#places.generations[place] = generation;
    this.#verdicts[place] = 0;
  }

  /** A filter rejects the node. */
  reject(place: number, generation: number, found: FoundRejection): void {
    const number = this.#numberOf(found);
    if (number === undefined) return;
    this.#places.generations[place] = generation;
    this.#verdicts[place] = number;
  }

  /** Equal rejections have one number. Undefined for one that is not kept. */
  #numberOf({ filter, rejection: { plugin, code, reasons } }: FoundRejection): number | undefined {
    if (reasons.length > mostReasons) return undefined;
    // the plugin may write into its list later
    const copy = Object.freeze([...reasons]);
    if (!copy.every((reason) => typeof reason === 'string' && reason.length <= longestReason)) return undefined;
    const text = `${filter} ${code} ${JSON.stringify(copy)}`;
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    if (this.#found.length >= mostRejections) {
      this.#withoutNumber += 1;
      return undefined;
    }
    const number = this.#found.push({ filter, rejection: { plugin, code, reasons: copy } });
    this.#numbers.set(text, number);
    return number;
  }
}

/** What one plugin has scored nodes with. */
export class ScoreColumn {
  readonly #places = new Places();
  #scores = new Float64Array(0);

  begin(epoch: number, nodes: number): void {
    if (!this.#places.begin(epoch, nodes)) return;
    if (this.#scores.length < this.#places.generations.length) this.#scores = new Float64Array(this.#places.generations.length);
  }

  /** NaN where it is not known. */
  get(place: number, generation: number): number {
    return this.#places.generations[place] === generation ? (this.#scores[place] as number) : Number.NaN;
  }

  set(place: number, generation: number, score: number): void {
    this.#places.generations[place] = generation;
    this.#scores[place] = score;
  }
}
