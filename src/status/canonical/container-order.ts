import type { WireContainerStatus } from '../../api/json/types.ts';

type Named = { readonly name: string };

/** By name, in the order of its bytes; the list itself where it is in order already. */
export function sortedByName(statuses: WireContainerStatus[]): WireContainerStatus[] {
  const inOrder = statuses.every((status, index) => index === 0 || (statuses[index - 1]?.name ?? '') <= status.name);
  return inOrder ? statuses : statuses.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/**
 * In the order of the spec; statuses that the spec does not name end up behind, as upstream's swaps leave them. The list
 * itself where it is in order already. A name that stands twice in the spec counts once.
 */
export function inSpecOrder(statuses: WireContainerStatus[], spec: readonly Named[]): WireContainerStatus[] {
  if (statuses.every(({ name }, index) => name === spec[index]?.name)) return statuses;
  const ordered = [...statuses];
  const places = new PlacesByName(statuses);
  let next = 0;
  for (const name of new Set(spec.map((container) => container.name))) {
    const found = places.firstFrom(next, name);
    const other = ordered[next];
    const match = ordered[found];
    if (match === undefined || other === undefined) continue;
    ordered[next] = match;
    ordered[found] = other;
    places.move(other.name, next, found);
    next++;
  }
  return ordered.every((status, index) => status === statuses[index]) ? statuses : ordered;
}

/** Where the statuses of each name stand, while they change places. Each name is asked for once. */
class PlacesByName {
  readonly #places = new Map<string, number[]>();
  /** By place: which of the places of its name it is. */
  readonly #slots: number[] = [];

  constructor(statuses: readonly WireContainerStatus[]) {
    statuses.forEach(({ name }, place) => {
      const held = this.#places.get(name) ?? [];
      this.#slots.push(held.push(place) - 1);
      this.#places.set(name, held);
    });
  }

  /** The first place of the name that is not in front of `least`; -1 where there is none. */
  firstFrom(least: number, name: string): number {
    let first = -1;
    for (const place of this.#places.get(name) ?? []) if (place >= least && (first < 0 || place < first)) first = place;
    return first;
  }

  /** What stood at `from` has taken the place of what was asked for. */
  move(name: string, from: number, to: number): void {
    const slot = this.#slots[from] ?? 0;
    const held = this.#places.get(name);
    if (held !== undefined) held[slot] = to;
    this.#slots[to] = slot;
  }
}
