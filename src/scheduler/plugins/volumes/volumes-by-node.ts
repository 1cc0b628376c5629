import type { WireNode, WirePersistentVolume } from '../../../api/json/types.ts';
import { labelOf } from '../../../api/selectors/label-selector.ts';
import { hostname } from '../common.ts';

/** A label that a node must have with one of these values for the volume to reach it. */
export interface VolumePin {
  readonly key: string;
  readonly values: ReadonlySet<string>;
}

type Terms = NonNullable<
  NonNullable<NonNullable<NonNullable<WirePersistentVolume['spec']>['nodeAffinity']>['required']>['nodeSelectorTerms']
>;

/**
 * Where the volume is, as far as one label says it; undefined where none does. Of several labels the name of the host says most. More is
 * asked of a node than this, so a node with the label may still be out of reach.
 */
export function pinOf({ spec }: WirePersistentVolume): VolumePin | undefined {
  const terms = listOf(spec?.nodeAffinity?.required?.nodeSelectorTerms) as Terms;
  const [first, ...others] = terms.map(valuesByKey);
  const keys = [...(first?.keys() ?? [])].filter((key) => others.every((one) => one.has(key)));
  const key = keys.includes(hostname) ? hostname : keys[0];
  if (key === undefined) return undefined;
  return { key, values: new Set([first, ...others].flatMap((one) => one?.get(key) ?? [])) };
}

/** What the term asks of labels by lists of values. What cannot be read is no such list. */
function valuesByKey(term: Terms[number]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const one of listOf(term?.matchExpressions)) {
    const { key, operator, values } = (one ?? {}) as { key?: unknown; operator?: unknown; values?: unknown };
    const isList = Array.isArray(values) && values.every((value) => typeof value === 'string');
    if (typeof key === 'string' && operator === 'In' && isList) found.set(key, values);
  }
  return found;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Positions in the list of volumes, ascending. */
type Positions = readonly number[];

/** Volumes in an order, found by the labels of a node: many volumes of one node each cost a node no more than its own. */
export class VolumesByNode {
  readonly #volumes: readonly WirePersistentVolume[];
  readonly #anywhere: number[] = [];
  /** By the label's key, and by its value. */
  readonly #pinned = new Map<string, Map<string, number[]>>();

  constructor(volumes: readonly WirePersistentVolume[], pinOfVolume: (volume: WirePersistentVolume) => VolumePin | undefined) {
    this.#volumes = volumes;
    for (const [position, volume] of volumes.entries()) {
      const pin = pinOfVolume(volume);
      if (pin === undefined) this.#anywhere.push(position);
      else this.#pin(pin, position);
    }
  }

  /** Those that may reach the node, in their order. */
  *near({ metadata }: WireNode): Generator<WirePersistentVolume> {
    const lists: Positions[] = this.#anywhere.length > 0 ? [this.#anywhere] : [];
    for (const [key, byValue] of this.#pinned) {
      const value = labelOf(metadata?.labels, key);
      const ofNode = value === undefined ? undefined : byValue.get(value);
      if (ofNode !== undefined) lists.push(ofNode);
    }
    for (const position of merged(lists)) {
      const volume = this.#volumes[position];
      if (volume !== undefined) yield volume;
    }
  }

  #pin({ key, values }: VolumePin, position: number): void {
    const byValue = this.#pinned.get(key) ?? new Map<string, number[]>();
    this.#pinned.set(key, byValue);
    for (const value of values) {
      const positions = byValue.get(value);
      if (positions === undefined) byValue.set(value, [position]);
      else positions.push(position);
    }
  }
}

/** The lists are few: as many as keys of labels. */
function* merged(lists: readonly Positions[]): Generator<number> {
  const next = lists.map(() => 0);
  for (;;) {
    let least = Number.POSITIVE_INFINITY;
    let from = -1;
    for (const [index, list] of lists.entries()) {
      const position = list[next[index] ?? 0] ?? Number.POSITIVE_INFINITY;
      if (position < least) [least, from] = [position, index];
    }
    if (from === -1) return;
    next[from] = (next[from] ?? 0) + 1;
    yield least;
  }
}
